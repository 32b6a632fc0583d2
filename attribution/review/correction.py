"""Correct the value of a contradicted claim to the source's, if the run's verifier then supports
it.
"""

from __future__ import annotations

from dataclasses import dataclass

from attribution.evidence.judging import PlacedPassage, Reading, read
from attribution.text.quantities import clear_contrasts, quantities
from attribution.types import Claim, Evidence, Report
from attribution.verdicts import DecisionPolicy, nearest_evidence
from attribution.verifiers import Verifier

# Least probability of support. Of 131 contradicted claims, 64 had a clear pair of values, and 23 of
# these were confirmed, all rightly.
CONFIRMED = 0.9


@dataclass(frozen=True)
class Correction:
    """A claim with the value of a source in place of its own.

    Attributes:
        claim: The corrected claim, with the id of the contradicted one.
        value: The value as the source writes it.
        piece: The passage whose deciding sentence has the value.
    """

    claim: Claim
    value: str
    piece: Evidence


def proposed_corrections(report: Report) -> list[Correction]:
    """Return the corrections of contradicted claims, to be confirmed before they are offered."""
    contradicted = {v.claim_id for v in report.verdicts if v.label == "contradicted"}
    proposed: list[Correction] = []
    for claim in report.claims:
        if claim.id not in contradicted:
            continue
        piece = nearest_evidence(report.evidence_of(claim.id), "contradicted")
        correction = _proposed(claim, piece) if piece else None
        if correction:
            proposed.append(correction)
    return proposed


def _proposed(claim: Claim, piece: Evidence) -> Correction | None:
    """Put the value that the card says the source has in the claim's place.

    None if there is no clear one, or if the claim would get another unit, such as 62 for 61 %.
    """
    before = claim.statement
    pairs = clear_contrasts(before, piece.deciding_sentence)
    if not pairs:
        return None
    start, end = pairs[0].claim_span
    value = pairs[0].source
    text = f"{before[:start]}{value}{before[end:]}"
    if not changed_values(before, text):
        return None
    return Correction(claim.model_copy(update={"text": text, "enriched": None}), value, piece)


def is_confirmed(
    correction: Correction, report: Report, verifier: Verifier, policy: DecisionPolicy
) -> bool:
    """Return True if passage and deciding sentence, each alone, surely support the corrected claim.

    Raises:
        BadInput: The corrected claim is too long.
    """
    piece = correction.piece
    page = next(page for page in report.pages if page.id == piece.page_id)
    passage = PlacedPassage(page, piece.start, piece.end)
    sentence = PlacedPassage(page, *piece.sentence)
    (evidence,) = read([Reading(correction.claim, [passage, sentence])], verifier, policy)
    return min(found.probabilities.entailed for found in evidence) >= CONFIRMED


def changed_values(before: str, after: str) -> list[tuple[str, str]]:
    """Return the values that were changed in a text, each with the new one, as they are written.

    The list is empty if a value was added, left out or given another unit.
    """
    old, new = quantities(before), quantities(after)
    if [quantity.unit for quantity in old] != [quantity.unit for quantity in new]:
        return []
    values: list[tuple[str, str]] = []
    for one, other in zip(old, new, strict=True):
        if (one.amount, one.date) != (other.amount, other.date):
            values.append((before[slice(*one.span)], after[slice(*other.span)]))
    return values
