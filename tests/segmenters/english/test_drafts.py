import pytest

from attribution.segmenters.english.drafts import (
    DraftWord,
    added,
    covers,
    indices,
    is_balanced,
    parts,
    to_text,
    trim,
)
from attribution.text.parse import parse


def test_a_draft_is_written_as_a_sentence() -> None:
    doc = parse("The tower, a landmark, was built in 1889.")
    assert (
        to_text(doc, (*parts(doc[:2]), *added("is"), *parts(doc[3:5])))
        == "The tower is a landmark."
    )
    assert to_text(doc, parts(doc)) == doc.text
    assert to_text(doc, (*added("an"), *parts(doc[4:5]))) == "A landmark."


def test_names_in_small_letters_keep_them() -> None:
    doc = parse("eBay grew, and eBay sold shares.")
    assert to_text(doc, parts(doc[:2])).startswith("eBay grew")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([",", "and", "a", ",", ",", "b", ";", "but", "."], ["a", ",", "b"]),
        (["a"], ["a"]),
        ([",", "and"], []),
    ],
)
def test_marks_and_conjunctions_are_trimmed(words: list[str], expected: list[str]) -> None:
    assert [
        part.text for part in trim(tuple(DraftWord(i, w) for i, w in enumerate(words)))
    ] == expected


def test_what_a_sentence_says_is_covered_or_not() -> None:
    doc = parse("Cats eat fish.")
    assert covers(doc, [parts(doc[:2]), parts(doc[1:3])])
    assert not covers(doc, [parts(doc[:2])])
    assert indices((*parts(doc[:1]), *added("is"))) == {0}


@pytest.mark.parametrize(
    ("text", "balanced"), [('(a) “b” "c"', True), ("(a", False), ("“b", False), ('"c', False)]
)
def test_brackets_and_quotation_marks_come_in_pairs(text: str, balanced: bool) -> None:
    assert is_balanced(text) is balanced
