"""FActScore: the share of facts that sources support, and the length penalty (Min et al. 2023,
section 3.1).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from attribution.text.passages import plain
from attribution.text.sentences import sentences

GAMMA = 10  # facts below which an answer's score is reduced: the default of the authors' program
_CANNOT = r"""
    (?: can(?:not|['’]t|\ not) | could(?:n['’]t|\ not) | do(?:n['’]t|\ not)
      | was(?:n['’]t|\ not)\ able\ to | am\ not\ able\ to )
"""
_KNOW = r"""
    (?: find | found | locate | have | provide | access | verify | confirm | answer | know
      | identify | determine | recall | tell | share | give )
"""
_ABSTAINS = re.compile(
    rf"""
    ^\W* (?:(?:unfortunately|apologies|sorry|well)\b [,.!]?\s* (?:but\s+)?)*  # an opening
    (?:
      # I'm sorry, but I have no information
      (?:I['’]?m|I\ am|we\ are|we['’]re)\s+(?:\w+\s+)?sorry\b .{{0,60}}
        \b (?:{_CANNOT}|unable|not\ able|no\ (?:information|knowledge|record))
      # I am not familiar with
    | (?:I['’]?m|I\ am|we\ are|we['’]re)\s+(?:\w+\s+)?
        (?:unable\ to|not\ able\ to|not\ (?:familiar|aware|sure))\b
      # I cannot find, I have no record
    | (?:I|we)\s+(?:\w+ly\s+)?{_CANNOT}\s+(?:\w+\s+)?{_KNOW}\b
    | (?:I|we)\s+have\ no\ (?:\w+\ )?(?:information|knowledge|record|data)\b
      # there is not enough information
    | (?:there\ (?:is|are)|there['’]s|(?:I|we)\ found)\s+(?:no|not\ enough|insufficient)\s+
        (?:\w+\s+){{0,2}}(?:information|records?|details)\b
      # no records are available
    | no\ (?:\w+\ )?(?:information|records?|results?|data)\b .{{0,60}}
        \b (?:available|(?:be|was|were)\ found)\b
      # as an AI, I do not
    | as\ an?\ (?:AI|language\ model|assistant)\b .{{0,80}}
        \b (?:{_CANNOT}|unable|not\ able|no\ (?:access|information))
      # the search results do not mention
    | the\ (?:provided\ |given\ |search\ )?(?:passages?|sources?|documents?|context|results?)\s+
        (?: (?:do(?:es)?|did)(?:n['’]t|\ not)
            \ (?:mention|contain|include|provide|say|cover|specify|give|state)
          | (?:contains?|provides?|gives?)\ no )\b
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_GOES_ON = re.compile(r"[,;]\s*(?:but|however|though|although|yet)\b", re.IGNORECASE)


def abstains(answer: str) -> bool:
    """Return True if an English answer begins by saying that the answer is not known.

    “I don't have the exact date, but it was finished in 1889” is an answer; so is a text that
    expresses sympathy.
    """
    text = " ".join(plain(answer).split())
    first = next((text[start:end] for start, end in sentences(text)), "")
    match = _ABSTAINS.search(first)
    return match is not None and not _GOES_ON.search(first, match.end())


@dataclass(frozen=True)
class Counts:
    """The counts of one verifier for the facts of one decomposer and answer."""

    facts: int  # judged facts
    supported: int
    responded: bool = True  # False: the answer abstains, and does not count


@dataclass(frozen=True)
class Score:
    """FActScore of several answers; None if no answer has a judged fact.

    Attributes:
        factscore: Mean over answers of the share of supported facts, with the length penalty.
        unpenalised: The same without it.
        answers: Those that count: they respond, with at least one fact.
    """

    factscore: float | None
    unpenalised: float | None
    answers: int


def penalty(facts: int) -> float:
    """Return the length penalty: 1 from GAMMA facts on, exp(1 - GAMMA / facts) below."""
    return 1.0 if facts >= GAMMA else math.exp(1 - GAMMA / facts)


def score(answers: Sequence[Counts]) -> Score:
    """Score one system, decomposer and verifier."""
    counted = [answer for answer in answers if answer.responded and answer.facts]
    if not counted:
        return Score(None, None, 0)
    shares = [answer.supported / answer.facts for answer in counted]
    penalised = [
        share * penalty(answer.facts) for share, answer in zip(shares, counted, strict=True)
    ]
    return Score(sum(penalised) / len(counted), sum(shares) / len(counted), len(counted))
