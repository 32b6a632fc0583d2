"""Scores of an answer's subclaims.

FActScore is the share that sources support, with a length penalty (Min et al. 2023, section 3.1);
DecompScore is the number that their own sentence supports (W24 3.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.replies import unquoted
from attribution.pipeline.judge import entailment
from attribution.settings import Settings
from attribution.studies.results import mean
from attribution.verdicts import DecisionPolicy
from attribution.verifiers import VERIFIERS

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
    shares = [answer.supported / answer.facts for answer in counted]
    penalised = [
        share * penalty(answer.facts) for share, answer in zip(shares, counted, strict=True)
    ]
    return Score(mean(penalised), mean(shares), len(counted))


# --- DecompScore ---


class TrueOrFalse(BaseModel):
    """The judge's reply."""

    is_true: bool

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        word = unquoted(text).rstrip(".").casefold()
        return {"is_true": word == "true"} if word in ("true", "false") else None


def judge_coherence(pairs: Sequence[tuple[str, str]], settings: Settings) -> list[bool]:
    """Return for each (claim, sentence) whether the sentence states the claim.

    A language model decides between two answers, of which an unusable one is no; without a model,
    the verifier's entailment does, from a probability of one half on (W24 C).
    """
    if not settings.has_llm:
        policy = DecisionPolicy.of(dict(settings))
        probabilities = entailment(pairs, VERIFIERS.chosen(settings), policy)
        return [probability is not None and probability >= 0.5 for probability in probabilities]
    prompt = prompts.load("w24/judge.v1", settings)
    asked = [Question.of(prompt, claim=claim, sentence=text) for claim, text in pairs]
    replies = Llm(settings).map(asked, TrueOrFalse)
    return [not isinstance(reply, LlmFailed) and reply.is_true for reply in replies]
