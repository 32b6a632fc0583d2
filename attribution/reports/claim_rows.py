"""A run's claims, each with everything that a view or a file tells of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attribution.evidence.near_duplicates import nearest_evidence
from attribution.types import AnalystVerdict, Claim, Evidence, Page, Report, Verdict
from attribution.verifiers.calibration import badge_of


@dataclass(frozen=True)
class ClaimRow:
    """A claim, its verdict and its evidence."""

    number: int  # from 1
    claim: Claim
    verdict: Verdict | None
    badge: str
    evidence: tuple[Evidence, ...]
    piece: Evidence | None  # the passage that decides or, for an unclear claim, the one to read
    page: Page | None  # of that passage
    own: AnalystVerdict | None


def claim_rows(report: Report) -> Iterator[ClaimRow]:
    """Yield the claims of a run in their order."""
    pages = {page.id: page for page in report.pages}
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    judgements = {judgement.claim_id: judgement for judgement in report.judgements}
    for number, claim in enumerate(report.claims, 1):
        verdict = verdicts.get(claim.id)
        evidence = tuple(e for e in report.evidence if e.claim_id == claim.id)
        piece = nearest_evidence(evidence, verdict.label if verdict else "", pages)
        yield ClaimRow(
            number,
            claim,
            verdict,
            badge_of(verdict, report),
            evidence,
            piece,
            pages.get(piece.page_id) if piece else None,
            judgements.get(claim.id),
        )
