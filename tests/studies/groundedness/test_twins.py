import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.studies.groundedness.test_sets import word_edits
from attribution.studies.groundedness.twins import Swap, Twin, apply


def restored(twin: Twin, answer: str) -> str:
    """The answer again, from the twin and the characters that were replaced."""
    text = twin.response
    for (start, end), (a, b) in reversed(list(zip(twin.changed, twin.original, strict=True))):
        text = text[:start] + answer[a:b] + text[end:]
    return text


@st.composite
def answers_and_edits(draw: st.DrawFn) -> tuple[str, list[Swap]]:
    answer = draw(st.text(min_size=1, max_size=60))
    cuts = sorted(draw(st.sets(st.integers(0, len(answer)), max_size=6)))
    pairs = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False) if a < b]
    return answer, [Swap(a, b, draw(st.text(min_size=1, max_size=8))) for a, b in pairs]


@given(answers_and_edits())
def test_changed_spans_hold_the_new_words_and_nothing_else_changes(
    made: tuple[str, list[Swap]],
) -> None:
    answer, edits = made
    twin = apply(answer, list(reversed(edits)), "number")
    assert [twin.response[a:b] for a, b in twin.changed] == [e.text for e in edits]
    assert restored(twin, answer) == answer


@pytest.mark.parametrize(
    "edits",
    [[Swap(0, 3, "x"), Swap(2, 5, "y")], [Swap(0, 0, "x")], [Swap(0, 3, "")], [Swap(4, 99, "x")]],
)
def test_edits_that_do_not_fit_are_refused(edits: list[Swap]) -> None:
    with pytest.raises(ValueError, match="edit"):
        apply("The tower is tall.", edits, "number")


WORDS = st.lists(
    st.sampled_from("the tower was not built in 1889 , by him.".split()), min_size=1, max_size=12
)


@given(WORDS, WORDS)
def test_word_edits_lead_from_one_sentence_to_the_other(
    before: list[str], after: list[str]
) -> None:
    old, new = " ".join(before), " ".join(after)
    edits = word_edits(old, new)
    if edits:
        twin = apply(old, edits, "scope")
        assert " ".join(twin.response.split()) == new and restored(twin, old) == old
    else:
        assert old.casefold() == new.casefold()
