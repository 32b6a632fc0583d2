"""Two answers in words: what one says of the other's claims, and whom the sources support. Imports no streamlit."""

from __future__ import annotations

from typing import Literal

from attribution.evaluation.agreement import Match
from attribution.evaluation.two_answers import TwoAnswers

NAMES = ("Answer A", "Answer B")
SIDES: tuple[Literal["first", "second"], ...] = ("first", "second")


def agreement(match: Match, side: int) -> str:
    """What the other answer does with a claim of this one, as in “Answer B says the same”."""
    more = ("first_more", "second_more")[1 - side] == match.agreement
    words = {
        "contradiction": "contradicts it",
        "same": "says the same",
        "overlap": "says part of it, and something else",
    }
    return words.get(match.agreement, "says more" if more else "says part of it")


def extent(match: Match) -> str:
    """Which of the two says more; empty where they say the same."""
    return {
        "first_more": f"{NAMES[0]} says more.",
        "second_more": f"{NAMES[1]} says more.",
        "overlap": "Each says something that the other does not.",
    }.get(match.agreement, "")


def disagreement(match: Match, result: TwoAnswers, running: bool) -> str:
    """What differs, and whom the sources support."""
    first, second = (" and ".join(f"“{text}”" for text in words) for words in match.differs)
    what = f"{NAMES[0]} says {first}, {NAMES[1]} says {second}. " if first and second else ""
    if not result.decided(match):
        return what + ("The sources are still being read." if running else "The sources were not read for both.")
    return (
        what
        + {
            "first": f"The sources support {NAMES[0]}.",
            "second": f"The sources support {NAMES[1]}.",
            "both": "The sources support both: read the passages.",
            "neither": "The sources support neither: read the passages.",
        }[result.supported(match)]
    )
