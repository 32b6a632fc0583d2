"""FActScore of a set of answers (Min et al. 2023, section 3.1), with the length penalty of its authors' program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

GAMMA = 10  # facts below which an answer's score is reduced: the default of the authors' program


@dataclass(frozen=True)
class Counts:
    """What one verifier found for the facts that one decomposer made of one answer."""

    facts: int  # that were judged
    supported: int
    responded: bool = True  # False: the answer abstains, and counts only in the respond ratio


@dataclass(frozen=True)
class Score:
    """FActScore of several answers; None where no answer has a fact that was judged."""

    factscore: float | None  # mean over answers of the share of supported facts, with the length penalty
    unpenalised: float | None  # the same without it
    respond_ratio: float | None  # share of the answers that do not abstain; None without answers
    facts_per_answer: float | None  # mean over the answers that count
    answers: int  # that count: those that respond, with at least one fact


def penalty(facts: int, gamma: float) -> float:
    """The factor for an answer of so many facts: 1 from gamma on, exp(1 - gamma / facts) below it; gamma 0 is none."""
    return 1.0 if facts >= gamma else math.exp(1 - gamma / facts)


def score(answers: Sequence[Counts], gamma: float = GAMMA) -> Score:
    """The score of one system, decomposer and verifier. An answer without a judged fact has no precision to average."""
    counted = [a for a in answers if a.responded and a.facts]
    if not counted:
        responded = sum(a.responded for a in answers) / len(answers) if answers else None
        return Score(None, None, responded, None, 0)
    shares = [a.supported / a.facts for a in counted]
    return Score(
        factscore=sum(s * penalty(a.facts, gamma) for s, a in zip(shares, counted, strict=True)) / len(counted),
        unpenalised=sum(shares) / len(counted),
        respond_ratio=sum(a.responded for a in answers) / len(answers),
        facts_per_answer=sum(a.facts for a in counted) / len(counted),
        answers=len(counted),
    )
