import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attribution.review.correction import apply, place
from attribution.text.passages import passages
from tests.review.make import claim


def edited(answer: str, words: str, before: str, after: str, **fields: object) -> str:
    edit = place(answer, claim(answer, words, **fields), before, after)
    if edit is None:
        return answer
    assert answer[edit.start : edit.end] == edit.before
    return apply(answer, [edit])


@pytest.mark.parametrize(
    ("answer", "words", "expected"),
    [
        ("It fell in 1975.", "It fell in 1975.", "It fell in 1980."),
        ("- It fell in **1975**.\n- So.", "It fell in **1975**.", "- It fell in **1980**.\n- So."),
        ("See [1975](http://a.b) there.", "See [1975](http://a.b) there.", "[1980](http://a.b)"),
        ("In 1975 it fell; in 1975 it rose.", "in 1975 it rose.", "1975 it fell; in 1980 it rose"),
        ("| Film | Year |\n|---|---|\n| Rope | 1975 |\n", "Rope | 1975", "| Rope | 1980 |"),
    ],
)
def test_only_the_value_is_edited(answer: str, words: str, expected: str) -> None:
    assert expected in edited(answer, words, "1975", "1980")


def test_a_value_is_written_as_text() -> None:
    answer = "It fell in 1975."
    assert edited(answer, answer, "1975", "*A|b*") == "It fell in \\*A\\|b\\*."


@pytest.mark.parametrize(
    ("answer", "before"),
    [
        ("It fell in 1975 and in 1975.", "1975"),  # either may be meant
        ("It fell in 1975.\n\nIn 1975 it rose.", "1975"),
        ("It fell in 19750.", "1975"),
        ("It fell.", "1975"),
    ],
)
def test_words_that_do_not_stand_just_once_are_not_edited(answer: str, before: str) -> None:
    assert place(answer, claim(answer, answer), before, "1980") is None


@pytest.mark.parametrize("inside", ["19**75**", "`1975`", "&#49;975"])
def test_marks_are_kept_or_nothing_is_edited(inside: str) -> None:
    answer = f"It fell in {inside} there."
    made = edited(answer, answer, "1975", "1980")
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
    span = (0, len(answer))
    made = claim(answer, "It fell in 1975", spans=(span,), sentence=span)
    edit = place(answer, made, "1975", new)
    if edit is not None:
        after = [p.text for p in passages(apply(answer, [edit]))]
        assert after[1:] == [p.text for p in passages(answer)][1:]
