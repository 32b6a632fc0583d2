import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.errors import BadInput
from attribution.text.sentences import sentences
from attribution.verifiers.pairs import WINDOWS, windows, word_for_word

PAGE = "The Nile is a river [1]. It runs from south to north, and ends in the sea. Is the Nile long? “It is 10 km long.”"


def said(claim: str, text: str = PAGE) -> str | None:
    judged = word_for_word(claim, text, sentences(text))
    return text[slice(*judged.sentence)] if judged else None


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The Nile is a river.", "The Nile is a river [1]."),
        ("the **Nile** is  a river", "The Nile is a river [1]."),
        (
            "It runs from south to north and ends in the sea.",
            "It runs from south to north, and ends in the sea.",
        ),
        ("The Nile is a river. It runs from south to north, and ends in the sea.", PAGE[:74]),
    ],
)
def test_whole_sentences_are_found_whatever_their_marks(claim: str, sentence: str) -> None:
    assert said(claim) == sentence


@pytest.mark.parametrize(
    "claim",
    [
        "The Nile is a lake.",
        "It runs from north to south, and ends in the sea.",
        "It runs from south to north.",  # a part of a sentence may say something else
        "It is false that the Nile is a river.",
        "It is 10 km long.",  # somebody else's words
        "Is the Nile",
        "The",
        "...",
        "",
    ],
)
def test_other_words_parts_of_sentences_and_quotations_are_not(claim: str) -> None:
    assert said(claim) is None


@pytest.mark.parametrize(
    "changed",
    ["It cost -5 $ a day.", "It cost 5% a day.", "It cost €5 a day.", "It cost 5.5 a day."],
)
def test_signs_that_belong_to_a_value_count(changed: str) -> None:
    assert said(changed, "It cost 5 a day.") is None
    assert said(changed, changed) == changed


def test_a_question_states_nothing() -> None:
    assert said("The Nile is long.", "The Nile is long?") is None


def test_a_text_of_more_windows_than_can_be_read_is_refused() -> None:
    offsets = [(2 * n, 2 * n + 1) for n in range(WINDOWS * 10)]
    assert len(windows(offsets, [], 10)) == WINDOWS
    with pytest.raises(
        BadInput, match="3,001 tokens, more than can be read for this claim: split it"
    ):
        windows([*offsets, (6000, 6001)], [], 10)


WORDS = st.lists(
    st.sampled_from(["ada", "built", "12", "engines", "in", "london", "never"]),
    min_size=3,
    max_size=9,
)


@given(st.lists(WORDS, min_size=1, max_size=4), st.data())
def test_every_sentence_is_found_and_none_with_another_word(
    page: list[list[str]], data: st.DataObject
) -> None:
    written = [" ".join(words).capitalize() + "." for words in page]
    text = " ".join(written)
    claim = data.draw(st.sampled_from(written))
    found = said(claim, text)
    assert found is not None and found.casefold() == claim.casefold()
    assert said(claim.replace(".", " zebras."), text) is None
