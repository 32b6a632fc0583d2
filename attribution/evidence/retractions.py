"""What a source takes back, and who says what in a transcript."""

from __future__ import annotations

import re

from attribution.text.words import uncovered, words_of
from attribution.types import Claim, Evidence, Page, Probabilities, Reservation

WITHDRAWN = re.compile(
    r"""
    (?: \b(?:earlier|previous|original|first|initial)[ ]version\b[^.;:\n]{0,60}?
      | \b[Tt]his[ ]\w{3,12}[ ](?:originally|previously|initially|first|incorrectly|wrongly)\b )
    [ ](?:\w+ly[ ])?(?:said|stated|reported|gave|claimed|misstated|described|had|wrote)\b
    (?P<earlier>(?:[^.;\n]|\.(?=\d)){3,300})
    | \b(?:RETRACTED|RETRACTION|WITHDRAWN|Retracted|Withdrawn)\b[^:\n]{0,30}:\s?
    (?P<retracted>(?:[^.\n]|\.(?=\d)){3,300})
    | \bMyth\b(?:[ ]\d{1,2})?[:.–-]\s?(?P<myth>(?:[^.!?\n]|\.(?=\d)){3,300})
    """,
    re.VERBOSE,
)
JOKE = re.compile(r"\W{0,8}(?:satire|satirical|parody|humou?r)\b", re.IGNORECASE)
RETRACTED = re.compile(r"\W{0,8}(?:retracted|retraction|withdrawn)\b", re.IGNORECASE)
SAID = re.compile(
    r"""
    (?P<before>[A-Z][\w.’'-]*(?:[ ][A-Z][\w.’'-]*){0,4})[ ](?:has[ ])?
    (?:said|says|stated|claimed|explained|added|argued|told|announced|warned|asked|replied)\b
    | According[ ]to[ ](?P<after>[A-Z][\w.’'-]*(?:[ ][A-Z][\w.’'-]*){0,4}),
    """,
    re.VERBOSE,
)
TURN = re.compile(
    r"""
    ^(?:[\[(]?[\d:.]{4,12}[\])]?[ ])? (?P<name>[A-Z][\w.’'-]*(?:[ ][A-Z][\w.’'-]*){0,4})
    (?:,[^:\n]{1,60})? (?:[ ]\([^()\n]{1,40}\))? (?:,[^:\n]{1,60})? :\s
    """,
    re.VERBOSE | re.MULTILINE,
)
SURE = 0.9  # probability that a source denies what it takes back


def withdrawn(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Return the evidence of a source that takes back what a claim says.

    It denies a claim whose words stand in the withdrawn part alone. A page that is retracted or
    meant as a joke supports nothing.
    """
    for match in WITHDRAWN.finditer(piece.text):
        part = next(group for group in match.groups() if group)
        rest = piece.text[: match.start()] + piece.text[match.end() :]
        is_taken_back = not uncovered(claim.statement, part)
        if is_taken_back and uncovered(claim.statement, rest):
            denied = Probabilities(entailed=0.0, contradicted=SURE, no_relation=1 - SURE)
            return piece.model_copy(update={"probabilities": denied})
    opening = page.text[:80]
    is_void = RETRACTED.match(page.title) or RETRACTED.match(opening)
    is_joke = JOKE.match(page.title) or JOKE.match(opening)
    if is_void or is_joke:
        note = "the source is retracted" if is_void else "the source is a joke"
        return _unsupporting(piece, note)
    return None


def of_another(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Let no turn of a transcript support that somebody else said it."""
    said = SAID.match(claim.statement)
    turns = list(TURN.finditer(page.text, 0, piece.sentence[1]))
    if not said or not turns:
        return None
    name = words_of(said["before"] or said["after"])[-1]
    speaker = turns[-1]["name"]
    if name in words_of(speaker) or name in words_of(piece.deciding_sentence):
        return None
    return _unsupporting(piece, f"it is said by {speaker}")


def _unsupporting(piece: Evidence, note: str) -> Evidence:
    return piece.model_copy(update={"reservation": Reservation(relations=("entailed",), note=note)})
