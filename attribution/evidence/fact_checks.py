"""A fact check counts by its headline and its rating, never by the sentence that quotes what it
refutes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from attribution.evidence.judging import Judged, judge_pairs
from attribution.policy import LOWEST_THRESHOLD
from attribution.text.words import shared_words
from attribution.types import Page, Pair, Probabilities, Span
from attribution.verifiers.pairs import Reads

_LABEL = re.compile(
    r"^\W*(?:(?:\w+ )?fact[- ]?check(?:ing)?|the facts|[^|:]{2,30}\s\|)\s*[:|–—-]?\s*", re.I
)
_DENIES = re.compile(r"\b(?:no|not|never|cannot|false|fake|hoax|myth|\w+n['’]t)\b", re.I)
_SITE = re.compile(r"\s+[|–—-]\s+[^|–—]{2,40}$")
_CLAIM = re.compile(
    r"^\W*(?:the )?claim\s*[:–—-]\s*(\S[^\n]{10,300}?)(?=[.?!][\"”]?(?:\s|$)|$)", re.I | re.M
)
_RATING = re.compile(
    r"\b(?:our |the )?(?:rating|ruling|verdict|conclusion|our call|fact[- ]check)\s*[:–—-]\s*[\"“]?([^\n.!]{3,60})|"
    r"\b(?:we|politifact|snopes) (?:rate|rated|rule|ruled) (?:it|this|(?:the|this|that|his|her) (?:claim|statement)) "
    r"(?:as )?[\"“]?([^\n.!]{3,40})",
    re.I,
)
_MIXED = re.compile(
    r"\b(?:half|partly|partially|mixture|mixed|unproven|unknown|lacks context|missing context)\b",
    re.I,
)
_FALSE = re.compile(
    r"\b(?:false|fake|incorrect|inaccurate|wrong|untrue|not true|hoax|scam|fabricated|misattributed|debunked|unfounded|"
    r"baseless|pants on fire|pants-fire|altered|doctored|photoshopped|satire|no evidence|(?:three|four) pinocchios|"
    r"miscaptioned|legend)\b",
    re.I,
)
_TRUE = re.compile(r"\b(?:true|correct|accurate|confirmed|legit|authentic)\b", re.I)
_YES = re.compile(r"yes\b", re.I)
# least share of the words that a claim and a question of a headline have in common, each way
_MATCHING = 0.75
FALLBACK = 0.9  # probability of a rating whose claim is matched by words alone


@dataclass(frozen=True)
class Ruling:
    """The finding of a fact check on a claim."""

    reviewed: str
    true: bool
    words: str  # its own


def headline(page: Page) -> Span | None:
    """Return where the headline of a fact check stands in its text; None for other pages, and where
    it does not.
    """
    if page.genre != "fact check" or (at := page.text.find(wanted := stated(page.title))) < 0:
        return None
    return at, at + len(wanted)


def stated(title: str) -> str:
    """Return a headline without the name of its site and of its column: "No, X has not …"."""
    return _SITE.sub("", _LABEL.sub("", title.strip())) or title


def ruling(page: Page) -> Ruling | None:
    """Return what a fact check rates, and how, from its markup or its text; None where that decides
    nothing.
    """
    if page.genre != "fact check":
        return None
    found = _CLAIM.search(page.text)
    reviewed = page.reviewed or (found[1].strip(" \"“”'") if found else "")
    if not reviewed and not _DENIES.search(title := stated(page.title)):
        reviewed = title
    words = page.rating
    if not words and (rated := _RATING.search(page.text)):
        words = next(filter(None, rated.groups())).strip(" \"“”'")
    if not reviewed or not words or _MIXED.search(words):
        return None
    false = _FALSE.search(words)
    return Ruling(reviewed, not false, words) if false or _TRUE.search(words) else None


def with_rulings(
    pairs: Sequence[Pair], judged: Sequence[Judged], pages: Sequence[Page], verifier: Reads
) -> list[Judged]:
    """Return the judgements, those of the headlines of fact checks by what they rated; `pages` are
    those of the pairs.

    A claim is false if it entails what was found false, and true if what was found true entails it.
    A headline alone
    can contradict; it supports only after "Yes", since many repeat what is false.
    """
    claims, rulings = [pair[0] for pair in pairs], [ruling(page) for page in pages]
    asked = [
        (i, found) for i, found in enumerate(rulings) if found and not found.reviewed.endswith("?")
    ]
    both: list[Pair] = [
        (claims[i], r.reviewed) if r.true else (r.reviewed, claims[i]) for i, r in asked
    ]
    same = dict(zip((i for i, _ in asked), judge_pairs(both, verifier), strict=True))
    joined = list(judged)
    for i, (page, found) in enumerate(zip(pages, rulings, strict=True)):
        if page.genre != "fact check":
            continue
        matched = FALLBACK if found and _asks(found.reviewed, claims[i]) else 0.0
        matched = same[i].judgement.probabilities.entailed if i in same else matched
        own = judged[i].judgement
        if found and matched >= LOWEST_THRESHOLD:
            said = _probabilities(*((matched, 0.0) if found.true else (0.0, matched)))
            difference = "" if found.true else f"rated “{found.words}”"
            joined[i] = Judged(
                replace(own, probabilities=said, signals={"rating": matched}, difference=difference)
            )
        elif not (found and found.true) and not _YES.match(stated(page.title)):
            joined[i] = Judged(
                replace(own, probabilities=_probabilities(0.0, own.probabilities.contradicted))
            )
    return joined


def _probabilities(entailed: float, contradicted: float) -> Probabilities:
    return Probabilities(
        entailed=entailed,
        contradicted=contradicted,
        no_relation=round(1 - entailed - contradicted, 6),
    )


def _asks(question: str, claim: str) -> bool:
    """Return True if the question of a headline asks whether the claim is true."""
    return min(shared_words(claim, question), shared_words(question, claim)) >= _MATCHING
