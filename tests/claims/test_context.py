from __future__ import annotations

from attribution.claims.context import add_context, named_by_context
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings

ANSWER = """# Bridges

The list is short.

## The Golden Gate Bridge

Each main cable contains 27,572 wires. The Golden Gate Bridge is red.

It needs these parts:

- two main cables hold the deck
- a toll plaza collects the money

## The Brooklyn Bridge

The deck is made of steel."""


def test_a_claim_has_the_headings_and_the_lead_in_above_it() -> None:
    settings = Settings(database_url="sqlite://", segmenter="sentences")
    claims = SEGMENTERS.build("sentences", settings).segment("", ANSWER).claims
    found = {claim.text.strip("- "): claim for claim in add_context(claims, ANSWER)}
    assert found["The list is short."].context == ("Bridges",)
    cables = found["Each main cable contains 27,572 wires."]
    assert cables.context == ("Bridges", "The Golden Gate Bridge")
    assert named_by_context(cables) == "Bridges The Golden Gate Bridge"
    assert named_by_context(found["The Golden Gate Bridge is red."]) == ""  # it names its subject itself
    assert found["two main cables hold the deck"].context[-1] == "It needs these parts:"
    assert found["The deck is made of steel."].context == ("Bridges", "The Brooklyn Bridge")


def test_a_section_is_not_under_the_one_before_it() -> None:
    first = "## The Golden Gate Bridge\n\nIt is red.\n\n### Cables\n\nThey are long."
    answer = f"{first}\n\n## The Brooklyn Bridge\n\nIt is grey."
    settings = Settings(database_url="sqlite://", segmenter="sentences")
    claims = SEGMENTERS.build("sentences", settings).segment("", answer).claims
    assert [claim.context for claim in add_context(claims, answer)] == [
        ("The Golden Gate Bridge",),
        ("The Golden Gate Bridge", "Cables"),
        ("The Brooklyn Bridge",),
    ]


def test_bold_titles_follow_each_other() -> None:
    answer = "**The Nile**\n\nIt is long.\n\n**The Rhine**\n\nIt is short."
    claims = SEGMENTERS.build("sentences", Settings(database_url="sqlite://")).segment("", answer).claims
    assert [claim.context for claim in add_context(claims, answer)] == [("The Nile",), ("The Rhine",)]
