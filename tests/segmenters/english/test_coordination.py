"""Noun and verb lists, through the coordination that uses them."""

from __future__ import annotations

import pytest

from attribution.segmenters.english.coordination import (
    distribute,
    noun_pieces,
    shared_words,
    split_examples,
    verb_pieces,
)
from attribution.segmenters.english.tree import conjuncts
from tests.segmenters.parses import repaired, token, whole, written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She likes tea and cake.", ["She likes tea.", "She likes cake."]),
        ("Ann and Ben are doctors.", ["Ann and Ben are doctors."]),  # together
        ("The river and the lake contain fish.", ["The river contains fish.", "The lake contains fish."]),
        ("Not only Ann but also Ben sings.", ["Not only Ann but also Ben sings."]),
        ("She lives between Rome and Paris.", ["She lives between Rome and Paris."]),
        ("The largest islands are Oahu, Maui, and Kauai.",
         ["Oahu is one of the largest islands.", "Maui is one of the largest islands.",
          "Kauai is one of the largest islands."]),
        ("She likes tea, cake and so on.", ["She likes tea, cake and so on."]),
        ("Rivers and lakes contain fish and plants.",
         ["Rivers contain fish.", "Rivers contain plants.", "Lakes contain fish.", "Lakes contain plants."]),
    ],
)  # fmt: skip
def test_a_statement_for_each_conjunct(text: str, expected: list[str]) -> None:
    doc = repaired(text)
    assert written(doc, distribute(doc, whole(doc))) == expected


@pytest.mark.parametrize(
    ("text", "head", "expected"),
    [
        ("He saw the nature and size of the town.", "nature",
         ["the nature of the town", "the size of the town"]),
        ("It has various tools and methods.", "tools", ["various tools", "various methods"]),
        ("They learn by trial and error.", "trial", []),  # one thing
        ("She saw M1 and M2 leukemias.", "M1", []),
        ("He saw cats, and dogs.", "cats", []),  # the end of a longer list
        ("He led the Department of Health and Labor.", "Health", []),  # one name
        ("The book includes maps, even songs, and other texts.", "maps", ["maps", "songs", "texts"]),
    ],
)  # fmt: skip
def test_the_pieces_of_a_noun_list(text: str, head: str, expected: list[str]) -> None:
    doc = repaired(text)
    pieces = noun_pieces(token(doc, head), conjuncts(token(doc, head)))
    assert [" ".join(doc[i].text for i in piece) for piece in pieces] == expected


@pytest.mark.parametrize(
    ("text", "head", "expected"),
    [
        ("He wrote and directed several films.", "wrote", ["wrote several films", "directed several films"]),
        ("It was built and sold.", "built", ["was built", "was sold"]),
        ("He did not sing and dance.", "sing", []),
        ("They rest and take naps when the baby sleeps.", "rest", []),
    ],
)
def test_the_pieces_of_a_verb_list(text: str, head: str, expected: list[str]) -> None:
    doc = repaired(text)
    pieces = verb_pieces(token(doc, head), conjuncts(token(doc, head)))
    assert [" ".join(doc[i].text for i in sorted(piece)) for piece in pieces] == expected


def test_what_verbs_share() -> None:
    doc = repaired("Yesterday she wrote and directed films.")
    assert [t.text for t in shared_words(token(doc, "wrote"), conjuncts(token(doc, "wrote")))] == ["Yesterday", "she"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The navy has ships, including carriers.", ["The navy has ships.", "The navy has carriers."]),
        ("It has causes, including dehydration.", ["It has causes, including dehydration."]),  # not what it has
        ("You may choose drinks, such as tea.", ["You may choose drinks, such as tea."]),
    ],
)
def test_examples_stand_for_the_general_word(text: str, expected: list[str]) -> None:
    doc = repaired(text)
    assert written(doc, split_examples(doc, whole(doc))) == expected
