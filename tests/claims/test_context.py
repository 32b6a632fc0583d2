import json
from pathlib import Path

import pytest

from attribution.claims.context import (
    add_context,
    check_independence,
    dependence_reason,
    named_by_context,
)
from attribution.claims.worthiness import classify
from attribution.segmenters.sentence_by_sentence import Sentences
from attribution.settings import Settings
from attribution.types import Claim
from tests.make import claim

ANSWER = """# Bridges

The list is short.

## The Golden Gate Bridge

Each main cable contains 27,572 wires. The Golden Gate Bridge is red.

It needs these parts:

- two main cables hold the deck
- a toll plaza collects the money

## The Brooklyn Bridge

The deck is made of steel."""


def in_context(answer: str) -> list[Claim]:
    """The sentences of an answer, each under what stands above it."""
    return add_context(Sentences(Settings()).segment("", answer).claims, answer)


def test_a_claim_has_the_headings_and_the_lead_in_above_it() -> None:
    found = {claim.text.strip("- "): claim for claim in in_context(ANSWER)}
    cables = found["Each main cable contains 27,572 wires."]
    named = found["The Golden Gate Bridge is red."]
    assert found["The list is short."].context == ("Bridges",)
    assert cables.context == ("Bridges", "The Golden Gate Bridge")
    assert named_by_context(cables) == "Bridges The Golden Gate Bridge"
    assert named_by_context(named) == ""
    assert found["two main cables hold the deck"].context[-1] == "It needs these parts:"
    assert found["The deck is made of steel."].context == ("Bridges", "The Brooklyn Bridge")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "## The Nile\n\nIt is long.\n\n### Cables\n\nThey hum.\n\n## The Rhine\n\nIt is short.",
            [("The Nile",), ("The Nile", "Cables"), ("The Rhine",)],
        ),
        (
            "**The Nile**\n\nIt is long.\n\n**The Rhine**\n\nIt is short.",
            [("The Nile",), ("The Rhine",)],
        ),
    ],
)
def test_a_section_is_not_under_the_one_before_it(
    answer: str, expected: list[tuple[str, ...]]
) -> None:
    assert [claim.context for claim in in_context(answer)] == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("### Alder\n**Pros:**\n- Cheap\n\n**Cons:**\n- Loud", ["Alder", "Alder"]),
        ("## Overview\n- It is old.", [""]),
        ("Alder Ltd\n- 12 knots\n\nBirch Ltd\n- 12 knots", ["Alder Ltd", "Birch Ltd"]),
        ("Sure, here's a brief overview of the Nile:\n- 6,650 km long", ["the Nile:"]),
        ("Here are the causes of the fire:\n- a gas leak", ["causes of the fire:"]),
        ("Here's a summary:\n\n| Aspect | Details |\n|--|--|\n| Age | 9 years |", [""]),
        ("The causes were:\n- a gas leak\n- an old pipe", ["The causes were:"] * 2),
        ("🗓️ Route\n- Day 1: the harbour", [""]),
    ],
)
def test_items_are_read_under_their_lead(answer: str, expected: list[str]) -> None:
    items = [claim for claim in in_context(answer) if not claim.text.endswith(":")]
    assert [" ".join(claim.context) for claim in items] == expected
    assert {claim.worthiness for claim in classify(items, answer)} == {"factual"}


def test_a_short_answer_is_under_its_question() -> None:
    claims = Sentences(Settings()).segment("", "No.").claims
    (found,) = check_independence(classify(add_context(claims, "No.", "Is it red?")))
    assert found.context == ("Is it red?",)
    assert found.worthiness == "factual"
    assert found.independent


DATA = Path(__file__).parents[1] / "data" / "independence.jsonl"
CASES = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
WORDS = {  # what the reason of each kind says
    "pronoun": ("refers to",),
    "demonstrative": ("points to", "listed before"),
    "condition": ("condition",),
    "scenario": ("scenario",),
    "time": ("time",),
    "item": ("list item", "table row"),
}
MISSED = {"Won the Turner Prize in 1995."}  # the parser takes it for an instruction


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["text"][:40])
def test_each_kind_of_dependence(case: dict[str, str]) -> None:
    found = dependence_reason(case["text"])
    if case["text"] in MISSED:
        pytest.xfail("known miss")
    if case["kind"]:
        assert any(words in found for words in WORDS[case["kind"]])
    else:
        assert found == ""


def test_a_dependent_claim_says_why_and_keeps_everything_else() -> None:
    before = claim("He was born in Leytonstone.")
    (after,) = check_independence([before])
    assert after.independent is False
    assert "“He”" in after.independence_reason
    assert after.model_copy(update={"independent": None, "independence_reason": ""}) == before
    assert check_independence([claim("Paris is the capital of France.")])[0].independent is True
