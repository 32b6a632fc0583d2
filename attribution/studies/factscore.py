"""FActScore: the share of facts that sources support, and the length penalty (Min et al. 2023,
section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attribution.claims.rules import compile_any
from attribution.text.passages import plain
from attribution.text.sentences import sentences

_NOT = r"(?:can(?:not|['’]t| not)|could(?:n['’]t| not)|do(?:n['’]t| not)|was(?:n['’]t| not) able to|am not able to)"
_KNOW = r"(?:find|found|locate|have|provide|access|verify|confirm|answer|know|identify|determine|recall|tell|share|give)"
_OPENING = r"^\W*(?:(?:unfortunately|apologies|sorry|well)\b[,.!]?\s*(?:but\s+)?)*"
_ABSTAINS = compile_any(
    [
        _OPENING + rf"(?:I['’]?m|I am|we are|we['’]re)\s+(?:\w+\s+)?sorry\b.{{0,60}}\b"
        rf"(?:{_NOT}|unable|not able|no (?:information|knowledge|record))",
        _OPENING
        + r"(?:I['’]?m|I am|we are|we['’]re)\s+(?:\w+\s+)?(?:unable to|not able to|not (?:familiar|aware|sure))\b",
        _OPENING + rf"(?:I|we)\s+(?:\w+ly\s+)?{_NOT}\s+(?:\w+\s+)?{_KNOW}\b",
        _OPENING + r"(?:I|we)\s+have no (?:\w+ )?(?:information|knowledge|record|data)\b",
        _OPENING
        + r"(?:there (?:is|are)|there['’]s|(?:I|we) found)\s+(?:no|not enough|insufficient)\s+(?:\w+\s+){0,2}"
        r"(?:information|records?|details)\b",
        _OPENING
        + r"no (?:\w+ )?(?:information|records?|results?|data)\b.{0,60}\b(?:available|(?:be|was|were) found)\b",
        _OPENING
        + rf"as an? (?:AI|language model|assistant)\b.{{0,80}}\b(?:{_NOT}|unable|not able|no (?:access|information))",
        _OPENING
        + r"the (?:provided |given |search )?(?:passages?|sources?|documents?|context|results?)\s+"
        r"(?:(?:do(?:es)?|did)(?:n['’]t| not) (?:mention|contain|include|provide|say|cover|specify|give|state)"
        r"|(?:contains?|provides?|gives?) no)\b",
    ]
)
_GOES_ON = compile_any([r"[,;]\s*(?:but|however|though|although|yet)\b"])


def abstains(answer: str) -> bool:
    """Return True if the first sentence of an English answer only says that the answer is not
    known.

    “I don't have the exact date, but it was finished in 1889” is an answer; so is a text that
    expresses sympathy.
    """
    text = " ".join(plain(answer).split())
    first = next((text[start:end] for start, end in sentences(text)), "")
    match = _ABSTAINS.search(first)
    return match is not None and not _GOES_ON.search(first, match.end())


GAMMA = 10  # facts below which an answer's score is reduced: the default of the authors' program


@dataclass(frozen=True)
class Counts:
    """The counts of one verifier for the facts of one decomposer and answer."""

    facts: int  # judged facts
    supported: int
    responded: bool = True  # False: the answer abstains, and does not count


@dataclass(frozen=True)
class Score:
    """FActScore of several answers; None if no answer has a judged fact."""

    factscore: (
        float | None
    )  # mean over answers of the share of supported facts, with the length penalty
    unpenalised: float | None  # the same without it
    answers: int  # answers that count: those that respond, with at least one fact


def penalty(facts: int) -> float:
    """Return the length penalty: 1 from GAMMA facts on, exp(1 - GAMMA / facts) below."""
    return 1.0 if facts >= GAMMA else math.exp(1 - GAMMA / facts)


def score(answers: Sequence[Counts]) -> Score:
    """Score one system, decomposer and verifier. Answers without a judged fact have no precision to
    average.
    """
    counted = [a for a in answers if a.responded and a.facts]
    if not counted:
        return Score(None, None, 0)
    shares = [a.supported / a.facts for a in counted]
    return Score(
        factscore=sum(s * penalty(a.facts) for s, a in zip(shares, counted, strict=True))
        / len(counted),
        unpenalised=sum(shares) / len(counted),
        answers=len(counted),
    )
