"""FActScore: the share of facts that sources support, and the length penalty (Min et al. 2023,
section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

GAMMA = 10  # facts below which an answer's score is reduced: the default of the authors' program


@dataclass(frozen=True)
class Counts:
    """The counts of one verifier for the facts of one decomposer and answer."""

    facts: int  # judged facts
    supported: int


@dataclass(frozen=True)
class Score:
    """FActScore of several answers; None if no answer has a judged fact.

    Attributes:
        factscore: Mean over answers of the share of supported facts, with the length penalty.
        unpenalised: The same without it.
        answers: Those with at least one fact, which count.
    """

    factscore: float | None
    unpenalised: float | None
    answers: int


def penalty(facts: int) -> float:
    """Return the length penalty: 1 from GAMMA facts on, exp(1 - GAMMA / facts) below."""
    return 1.0 if facts >= GAMMA else math.exp(1 - GAMMA / facts)


def score(answers: Sequence[Counts]) -> Score:
    """Score one system, decomposer and verifier."""
    counted = [answer for answer in answers if answer.facts]
    if not counted:
        return Score(None, None, 0)
    shares = [answer.supported / answer.facts for answer in counted]
    penalised = [
        share * penalty(answer.facts) for share, answer in zip(shares, counted, strict=True)
    ]
    return Score(sum(penalised) / len(counted), sum(shares) / len(counted), len(counted))
