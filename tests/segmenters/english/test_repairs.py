import pytest

from attribution.segmenters.english.repairs import _apply, repair
from attribution.text.parse import parse
from tests.segmenters.parses import made, token


@pytest.mark.parametrize(
    ("text", "word", "head"),
    [
        ("The drug helps prevent harm and enables patients to walk.", "enables", "helps"),
        (
            "The treaty is an agreement on climate change that aims to reduce emissions.",
            "aims",
            "agreement",
        ),
        ("The film was written by Ann, Ben, and Carl, who wrote plays.", "wrote", "Carl"),
    ],
)
def test_words_are_attached_to_what_they_agree_with(text: str, word: str, head: str) -> None:
    assert token(repair(parse(text)), word).head.text == head


@pytest.mark.parametrize(
    ("text", "word", "tag"),
    [
        ("It has been signed by 197 countries and ratified by 190.", "ratified", "VBN"),
        ("They are made of steel and contain lead.", "contain", "VBP"),
    ],
)
def test_tags_follow_the_other_conjunct(text: str, word: str, tag: str) -> None:
    assert token(repair(parse(text)), word).tag_ == tag


def test_the_words_stay_the_same_and_a_good_parse_stays_as_it_is() -> None:
    doc = parse("Ann sings songs.")
    assert repair(doc) is doc
    doc = parse("It has been signed by 197 countries and ratified by 190.")
    assert [(t.text, t.whitespace_) for t in repair(doc)] == [(t.text, t.whitespace_) for t in doc]


@pytest.mark.parametrize(
    ("rows", "word", "head", "dep"),
    [
        (
            [
                "It PRP nsubj 1",
                "offers VBZ ROOT 1",
                "speed NN dobj 1",
                ", , punct 2",
                "cost NN appos 2",
                "and CC cc 2",
                "strength NN conj 2",
            ],
            "cost",
            "speed",
            "conj",
        ),  # the middle of a list, not an apposition
        (
            [
                "It PRP nsubj 1",
                "helps VBZ ROOT 1",
                "artists NNS nsubj 3",
                "hone VB ccomp 1",
                "skills NNS dobj 3",
                "and CC cc 1",
                "reach VB conj 1",
                "crowds NNS dobj 6",
            ],
            "reach",
            "hone",
            "conj",
        ),  # the nearest infinitive
    ],
)
def test_errors_of_the_parser_are_corrected(
    rows: list[str], word: str, head: str, dep: str
) -> None:
    corrected = token(repair(made(*rows)), word)
    assert (corrected.head.text, corrected.dep_) == (head, dep)


def test_a_correction_that_would_close_a_circle_is_dropped() -> None:
    doc = made("a NN ROOT 0", "b NN conj 0", "c NN conj 1")
    assert [t.head.i for t in _apply(doc, [(0, "head", 2)])] == [0, 0, 1]
