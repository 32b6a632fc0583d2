"""What a threshold costs and brings: the badges shown and the badges right, as it moves over judged claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attribution.run.judge import JudgedClaim
from attribution.types import Claim, Label, Verdict
from attribution.verdicts import LOWEST_THRESHOLD, Thresholds, counted, decide

BADGES: tuple[Label, ...] = ("supported", "contradicted")
STEP = 0.02  # between two thresholds of the curve


class Labelled(Protocol):
    """People's judgement of a claim."""

    @property
    def supported(self) -> bool | None: ...
    @property
    def refuted(self) -> bool | None: ...


def by_threshold(
    claims: Sequence[Labelled], judged: Sequence[JudgedClaim], made_with: Thresholds
) -> dict[str, list[tuple[float, int, int]]]:
    """(threshold, badges shown, badges right) as one threshold moves and the other stays; decided anew, not judged."""
    curves: dict[str, list[tuple[float, int, int]]] = {}
    for badge, side in zip(BADGES, Thresholds._fields, strict=True):
        curves[badge] = []
        for threshold in (
            round(LOWEST_THRESHOLD + STEP * n, 2) for n in range(round((0.99 - LOWEST_THRESHOLD) / STEP))
        ):
            thresholds = made_with._replace(**{side: threshold})
            shown = [
                claim
                for claim, of_claim in zip(claims, judged, strict=True)
                if redecided(of_claim, thresholds).label == badge
            ]
            right = sum(bool(c.supported if badge == "supported" else c.refuted) for c in shown)
            curves[badge].append((threshold, len(shown), right))
    return curves


def redecided(judged: JudgedClaim, thresholds: Thresholds) -> Verdict:
    """The verdict on a judged claim with other thresholds."""
    claim = Claim(id=judged.verdict.claim_id, text="", spans=(), worthiness="factual")
    pieces = {e.page_id: e for e in judged.evidence}.values()
    moved = [e.model_copy(update={"relation": counted(e.probabilities, e.reservation, thresholds)}) for e in pieces]
    return decide(claim, moved, thresholds)
