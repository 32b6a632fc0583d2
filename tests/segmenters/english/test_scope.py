from __future__ import annotations

import pytest

from attribution.segmenters.english import scope
from attribution.segmenters.english.tree import conjuncts
from tests.segmenters.parses import repaired, token


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
    ("text", "head", "free"),
    [
        ("You may take tea or cake.", "tea", True),
        ("It allows users to read or write files.", "read", True),
        ("He took tea or cake.", "tea", False),
        ("They sell drinks such as tea or milk.", "tea", True),
    ],
)
def test_or_is_a_free_choice_under_may_and_among_examples(text: str, head: str, free: bool) -> None:
    assert scope.is_free_choice(token(repaired(text), head)) is free


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
    both, either = repaired("She likes tea and cake."), repaired("She likes tea or cake.")
    assert scope.joined_by_and(conjuncts(token(both, "tea"))) and not scope.joined_by_or(conjuncts(token(both, "tea")))
    assert scope.joined_by_or(conjuncts(token(either, "tea")))


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
