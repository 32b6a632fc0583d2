"""The steps after the model: a short list of what is known for certain.

Each step looks at one piece of evidence, and returns it changed, or None where it has nothing to
say. `python -m benchmarks.verdicts --without NAME` measures what a step adds.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from attribution.text.words import shared_words, uncovered
from attribution.types import (
    SILENT,
    Claim,
    Evidence,
    Page,
    Probabilities,
    Reservation,
)

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
    reviewed = headline(page)
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
    return _unsupporting(piece, "a fact check repeats what it reviews")


WITHDRAWN = re.compile(
    r"""
    (?: \b(?:earlier|previous|original|first|initial)[ ]version\b[^.;:\n]{0,60}?
      | \b[Tt]his[ ]\w{3,12}[ ](?:originally|previously|initially|first|incorrectly|wrongly)\b )
    [ ](?:\w+ly[ ])?(?:said|stated|reported|gave|claimed|misstated|described|had|wrote)\b
    (?:[^.;\n]|\.(?=\d)){3,300}
    | \b(?:RETRACTED|RETRACTION|WITHDRAWN|Retracted|Withdrawn)\b[^:\n]{0,30}:\s?
    (?:[^.\n]|\.(?=\d)){3,300}
    | \bMyth\b(?:[ ]\d{1,2})?[:.–-]\s?(?:[^.!?\n]|\.(?=\d)){3,300}
    """,
    re.VERBOSE,
)
VOID = re.compile(  # at the start of a title or text
    r"\W{0,8}(?:(?P<joke>satire|satirical|parody|humou?r)|retracted|retraction|withdrawn)\b",
    re.IGNORECASE,
)


def withdrawn(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Return the evidence of a source that takes back what a claim says: it supports nothing.

    The claim's words stand in the withdrawn part alone, or the whole page is retracted or a joke.
    """
    for match in WITHDRAWN.finditer(piece.text):
        rest = piece.text[: match.start()] + piece.text[match.end() :]
        is_taken_back = not uncovered(claim.statement, match[0])
        if is_taken_back and uncovered(claim.statement, rest):
            return _unsupporting(piece, "the source takes it back")
    void = VOID.match(page.title) or VOID.match(page.text)
    if void is None:
        return None
    return _unsupporting(piece, f"the source is {'a joke' if void['joke'] else 'retracted'}")


def _unsupporting(piece: Evidence, note: str) -> Evidence:
    return piece.model_copy(update={"reservation": Reservation(relations=("entailed",), note=note)})


Step = Callable[[Claim, Page, Evidence], Evidence | None]


def genre(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Let a page count for what it is.

    Pages that only list or repeat are left out, a fact check counts by its rating, and nothing
    supports what it takes back.
    """
    if page.genre == "fact check":
        return rated(claim, page, piece)
    if page.genre in SILENT:
        reservation = Reservation(relations=("entailed", "contradicted"), note=SILENT[page.genre])
        return piece.model_copy(update={"reservation": reservation})
    return withdrawn(claim, page, piece)


STEPS: dict[str, Step] = {  # in the order in which they run
    "genre": genre,
}
