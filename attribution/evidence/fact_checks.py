"""Fact checks: the claim that a page reviews, and how it rates it."""

from __future__ import annotations

import re

from attribution.text.words import shared_words
from attribution.types import Claim, Evidence, Page, Probabilities, Reservation

LABEL = re.compile(r"^\W*(?:(?:\w{1,20} )?fact[- ]?check(?:ing)?|the facts)\s*[:|–—-]\s*", re.I)
SITE = re.compile(r"\s[|–—-]\s[^|–—]{2,40}$")
RATING = re.compile(
    r"""\b(?:
        (?:rating|ruling|verdict|conclusion|our\ call|fact[- ]check)\s?[:–—-]\s?   # Rating: False
        |(?:we|politifact|snopes)\ (?:rate|rated|rule|ruled)\ [\w\ ]{2,20}?\ (?:as\ )?
    )[\"“]?(?P<rating>[^\n.!]{3,60})""",
    re.I | re.X,
)
MIXED = re.compile(
    r"\b(?:half|part(?:ly|ially)|mixture|mixed|unproven|unknown|(?:lacks|missing) context)\b", re.I
)
FALSE = re.compile(
    r"\b(?:false|fake|incorrect|inaccurate|wrong|untrue|not true|hoax|scam|debunked|unfounded|"
    r"baseless|pants on fire|altered|doctored|satire|no evidence|(?:three|four) pinocchios)\b",
    re.I,
)
TRUE = re.compile(r"\b(?:true|correct|accurate|confirmed|authentic)\b", re.I)
SAME = 0.6  # least share of the claim's words that the reviewed claim has, and the other way round
RATED = 0.9  # probability of a relation that a rating decides


def headline(page: Page) -> str:
    """Return a page's headline without the names of its column and its site."""
    title = page.title.strip()
    return SITE.sub("", LABEL.sub("", title)) or title


def rating(page: Page) -> bool | None:
    """Return True if a fact check found its claim true, False if false; None if neither."""
    words = page.rating
    if not words:
        match = RATING.search(page.text)
        words = match["rating"] if match else ""
    if not words or MIXED.search(words):
        return None
    if FALSE.search(words):
        return False
    return True if TRUE.search(words) else None


def rated(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Return the evidence of a fact check by what it rates.

    The page repeats what it refutes, so its text alone supports nothing. If it reviews this claim,
    its rating decides.
    """
    reviewed = page.reviewed or headline(page)
    overlap = min(shared_words(claim.statement, reviewed), shared_words(reviewed, claim.statement))
    found = rating(page)
    if found is not None and overlap >= SAME:
        entailed, contradicted = (RATED, 0.0) if found else (0.0, RATED)
        probabilities = Probabilities(
            entailed=entailed, contradicted=contradicted, no_relation=1 - RATED
        )
        return piece.model_copy(update={"probabilities": probabilities})
    if piece.probabilities.entailed < piece.probabilities.contradicted:
        return None
    note = "a fact check repeats what it reviews"
    return piece.model_copy(update={"reservation": Reservation(relations=("entailed",), note=note)})
