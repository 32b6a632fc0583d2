import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attribution.review.correction import apply, place
from attribution.text.passages import passages
from tests.review.make import claim


def edited(answer: str, words: str, after: str, **fields: object) -> str:
    edits = place(answer, claim(answer, words, **fields), after)
    assert all(answer[e.start : e.end] == e.before for e in edits)
    return apply(answer, edits)


@pytest.mark.parametrize(
    ("answer", "words", "after", "expected"),
    [
        ("It fell in 1975.", "It fell in 1975.", "It fell in 1980.", "It fell in 1980."),
        (
            "- It fell in **1975**.\n- So.",
            "It fell in **1975**.",
            "It fell in 1980.",
            "- It fell in **1980**.\n- So.",
        ),
        ("It was not red.", "It was not red.", "It was red.", "It was red."),
        ("It was red.", "It was red.", "It was not red.", "It was not red."),
        (
            "He met [Bo Li](http://a.b) there.",
            "He met [Bo Li](http://a.b) there.",
            "He met Jo Wu there.",
            "He met [Jo Wu](http://a.b) there.",
        ),
        (
            "In 1975 it fell; in 1975 it rose.",
            "in 1975 it rose.",
            "in 1980 it rose.",
            "In 1975 it fell; in 1980 it rose.",
        ),
        ("It fell in 1975.", "It fell in 1975.", "It fell in *A|b*.", "It fell in \\*A\\|b\\*."),
    ],
)
def test_only_what_differs_is_edited(answer: str, words: str, after: str, expected: str) -> None:
    text = " ".join(p.text for p in passages(words))
    assert edited(answer, words, after, text=text) == expected


def test_a_cell_of_a_table_is_edited_in_its_place() -> None:
    answer = "| Film | Year |\n|---|---|\n| Psycho | 1975 |\n| Rope | 1948 |\n"
    made = edited(
        answer, "Psycho | 1975", "Film: Psycho; Year: 1960", text="Film: Psycho; Year: 1975"
    )
    assert made == answer.replace("1975", "1960")


def test_words_that_the_answer_does_not_say_are_not_edited() -> None:
    answer = "It was finished in 1889."
    reworded = {"enriched": "The Eiffel Tower was finished in 1889."}
    assert (
        place(answer, claim(answer, answer, **reworded), "The Ulm Tower was finished in 1889.")
        == ()
    )
    assert (
        edited(answer, answer, "The Eiffel Tower was finished in 1887.", **reworded)
        == "It was finished in 1887."
    )


@pytest.mark.parametrize("inside", ["19**75**", "`1975`", "&#49;975"])
def test_marks_are_kept_or_nothing_is_edited(inside: str) -> None:
    answer = f"It fell in {inside} there."
    made = edited(answer, answer, "It fell in 1980 there.", text="It fell in 1975 there.")
    assert made == answer or [p.text for p in passages(made)] == ["It fell in 1980 there."]


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure
@given(
    st.lists(
        st.sampled_from(
            ["a", "1975", "**b**", "|", "\n", "- ", "# ", "`c`", "[d](http://e.f)", "é", "\\", "*"]
        )
    ),
    st.text(max_size=12),
)
def test_the_rest_of_any_answer_reads_as_before(parts: list[str], new: str) -> None:
    answer = " ".join(["It fell in 1975", *parts])
    before = [p.text for p in passages(answer)]
    words = before[0] if before else ""
    if "1975" not in words or not answer.startswith(words[:15]):
        return
    span = (0, len(answer))
    made = claim(answer, "It fell in 1975", text=words, spans=(span,), sentence=span)
    edits = place(answer, made, words.replace("1975", new, 1))
    assert all(answer[e.start : e.end] == e.before for e in edits)
    after = [p.text for p in passages(apply(answer, edits))]
    assert after[1:] == before[1:]
