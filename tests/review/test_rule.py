"""Wordings by rule: values of the passage in place of the claim's, and what a claim is about stays."""

from __future__ import annotations

import pytest

from attribution.review.corrections import RuleCorrector
from attribution.settings import Settings


@pytest.mark.parametrize(
    ("claim", "passage", "first"),
    [
        ("The bridge opened in 1939.", "Work began in 1933. The bridge opened in 1937.", "The bridge opened in 1937."),
        ("The bridge weighs 30 kg.", "The bridge weighs 30 tons.", "The bridge weighs 30 tons."),
        ("Psycho was directed by John Ford.", "Psycho was directed by Alfred Hitchcock in 1960.",
         "Psycho was directed by Alfred Hitchcock."),
        ("The plan was not approved.", "The plan was approved.", "The plan was approved."),
        ("The plan was approved.", "The plan was never approved.", "The plan was not approved."),
        ("30 people died there.", "40 people died there.", "40 people died there."),
        ("He was born on 3 May 1899.", "He was born on 4 May 1899.", "He was born on 4 May 1899."),
        ("You have 30 days to answer.", "You have 72 hours to answer.", "You have 72 hours to answer."),
    ],
)  # fmt: skip
def test_the_likeliest_wording_comes_first(claim: str, passage: str, first: str) -> None:
    assert RuleCorrector(Settings()).candidates(claim, passage)[0] == first


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Paris is the largest city.", "London is the largest city."),
        ("The 1990 cup was won by them.", "The 1994 cup was won by them."),
        ("It has 9,000 banks.", "It has 9000 banks, and 30 halls."),
        ("It was red.", "It was blue."),
        ("It was not found until 1894.", "It was found in 1894."),
        ("They waited eight years.", "They were the first."),
    ],
)
def test_what_a_claim_is_about_and_what_the_passage_says_too_stays(claim: str, passage: str) -> None:
    assert RuleCorrector(Settings()).candidates(claim, passage) == []


def test_what_another_passage_confirms_is_not_wrong() -> None:
    claim, passage = "It opened in 1937.", "It was planned in 1930."
    corrector = RuleCorrector(Settings())
    assert corrector.candidates(claim, passage) == ["It opened in 1930."]
    assert corrector.candidates(claim, passage, ["In 1937 the mayor came."]) == []


def test_values_change_one_at_a_time_unless_the_claim_is_surely_contradicted() -> None:
    claim, passage = "It opened in 1937 with 30 rooms.", "It opened in 1939 with 40 rooms."
    both, corrector = "It opened in 1939 with 40 rooms.", RuleCorrector(Settings())
    assert both in corrector.candidates(claim, passage)
    assert both not in corrector.candidates(claim, passage, [passage])


def test_two_names_change_places_unless_another_passage_may_be_right() -> None:
    claim = "Robert Bloch wrote the screenplay from a novel by Joseph Stefano."
    passage = "It opened in 1960. Joseph Stefano wrote the screenplay from a novel by Robert Bloch."
    swapped = "Joseph Stefano wrote the screenplay from a novel by Robert Bloch."
    corrector = RuleCorrector(Settings())
    assert swapped in corrector.candidates(claim, passage)
    assert corrector.candidates(claim, passage, [passage]) == []
