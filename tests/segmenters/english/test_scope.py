from __future__ import annotations

import pytest

from attribution.segmenters.english import scope
from attribution.segmenters.english.scope import is_reliable
from attribution.segmenters.english.tree import conjuncts
from attribution.text.parse import parse
from tests.segmenters.parses import made, repaired, token


@pytest.mark.parametrize(
    ("text", "head", "closed"),
    [
        ("She likes tea and cake.", "tea", False),
        ("The town lies between Rome and Milan.", "Rome", True),
        ("It is a mix of sand and clay.", "sand", True),
        ("The plan combined speed and safety.", "speed", True),
        ("She does not like tea and cake.", "tea", True),
        ("He is known as a writer and a painter.", "writer", False),
        ("He works without pen and paper.", "pen", True),
    ],
)
def test_words_above_a_coordination_close_it(text: str, head: str, closed: bool) -> None:
    doc = repaired(text)
    assert scope.is_closed(token(doc, head), set(range(len(doc)))) is closed


@pytest.mark.parametrize(
    ("text", "head", "examples"),
    [("They sell drinks such as tea or milk.", "tea", True), ("You may take tea or cake.", "tea", False)],
)
def test_alternatives_are_examples_after_such_as(text: str, head: str, examples: bool) -> None:
    assert scope.are_examples(token(repaired(text), head)) is examples


@pytest.mark.parametrize(
    ("text", "preposition", "gives"),
    [
        ("They sell drinks such as tea.", "as", True),
        ("They sell drinks, including tea.", "including", True),
        ("They sell drinks like tea.", "like", True),
        ("He works as a waiter.", "as", False),
    ],
)
def test_prepositions_that_introduce_examples(text: str, preposition: str, gives: bool) -> None:
    assert scope.gives_examples(token(repaired(text), preposition)) is gives


def test_how_conjuncts_are_joined() -> None:
    assert scope.joined_by_and(conjuncts(token(repaired("She likes tea and cake."), "tea")))
    assert not scope.joined_by_and(conjuncts(token(repaired("She likes tea or cake."), "tea")))


def test_adjuncts_and_fronted_phrases() -> None:
    doc = repaired("By reading and writing, they make plans with Ann and Ben.")
    inside = set(range(len(doc)))
    assert scope.is_fronted(token(doc, "reading"), inside) and not scope.is_fronted(token(doc, "plans"), inside)
    assert scope.in_adjunct(token(doc, "reading"), inside) and not scope.in_adjunct(token(doc, "plans"), inside)
    assert scope.in_main_clause(token(doc, "plans"), inside)


@pytest.mark.parametrize("verb", ["combines", "combined", "met", "merging", "vary"])
def test_collective_verbs_are_recognised_in_every_form(verb: str) -> None:
    doc = repaired(f"They {verb} A.")
    assert scope.is_collective(token(doc, verb))


def test_a_quantity_stands_for_what_it_measures() -> None:
    doc = repaired("It offers a variety of tools.")
    assert scope.measured_noun(token(doc, "tools")).text == "variety"


@pytest.mark.parametrize("text", ["Ann sings and dances.", "Ann, who sings, dances.", "Ann left because it rained."])
def test_ordinary_sentences_are_reliable(text: str) -> None:
    assert is_reliable(parse(text))


@pytest.mark.parametrize(
    "rows",
    [
        ["Ann NNP nsubj 1", "sings VBZ ROOT 1", "songs NNS dobj 1", "made VBD conj 1"],  # no conjunction
        ["Ann NNP nsubj 4", "sings VBZ relcl 0", "songs NNS dobj 1", ", , punct 4", "left VBD ROOT 4"],  # one comma
        ["Ben NNP ROOT 0", "and CC cc 0", "arias NNS conj 0", "of NN compound 2", "sung VBN acl 2", ", , punct 0"],
        ["It PRP nsubj 1", "rained VBD ROOT 1", "leaves VBZ advcl 1"],  # a finite verb without a subject
        ["men NNS ROOT 0", "who WP nsubj 2", "sing VBP relcl 0", "songs NNS dobj 2", "; , punct 3", "arias NNS conj 3",
         "and CC cc 5", "duets NNS conj 5"],
        ["born VBN ROOT 0", "in RP prep 0", "Lima NNP pobj 1", "Peru NNP conj 2", "and CC cc 0", "physics NN conj 0"],
        ["list VBP ROOT 0", "fever NN dobj 0", ", , punct 0", "passing VBG advcl 0", "stones NNS dobj 3", ", , punct 3",
         "and CC cc 3", "pain NN conj 3"],
    ],
    ids=["conjunction", "subject", "participle", "clause", "list", "list without and", "gerund"],
)  # fmt: skip
def test_signs_that_the_parser_lost_its_way(rows: list[str]) -> None:
    assert not is_reliable(made(*rows))
