"""A run's claims, each with everything that a view or a file tells of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attribution.evidence.near_duplicates import nearest_evidence, with_similar_sentence
from attribution.reports.groups import group_of
from attribution.types import WEAK, AnalystVerdict, Claim, Evidence, Page, Report, Verdict
from attribution.verifiers.calibration import assessments, badge_of, model_badge


@dataclass(frozen=True)
class ClaimRow:
    """A claim, its verdict and its evidence."""

    number: int  # from 1
    claim: Claim
    verdict: Verdict | None
    badge: str  # that is shown: the analyst's assessment, or else the model's
    model_badge: str
    evidence: tuple[Evidence, ...]
    piece: Evidence | None  # the passage that decides or, for an unclear claim, the one to read
    page: Page | None  # of that passage
    own: AnalystVerdict | None  # the assessment
    note: str  # the analyst's

    @property
    def group(self) -> str:
        """The name of the claim's group."""
        return group_of(self.badge)


def claim_rows(report: Report, without: str = "not_reached") -> Iterator[ClaimRow]:
    """Yield the claims of a run in their order.

    Args:
        report: The run.
        without: The badge of a claim that has no verdict.
    """
    pages = {page.id: page for page in report.pages}
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    own = assessments(report)
    notes = {judgement.claim_id: judgement.note for judgement in report.judgements}
    evidence: dict[str, list[Evidence]] = {claim.id: [] for claim in report.claims}
    for found in report.evidence:
        evidence[found.claim_id].append(found)
    for number, claim in enumerate(report.claims, 1):
        verdict = verdicts.get(claim.id)
        badge = badge_of(verdict, report, without)
        piece = _shown_piece(evidence[claim.id], badge, verdict, pages)
        if piece:
            piece = with_similar_sentence(claim.statement, piece)
        yield ClaimRow(
            number=number,
            claim=claim,
            verdict=verdict,
            badge=badge,
            model_badge=model_badge(verdict, report, without),
            evidence=tuple(evidence[claim.id]),
            piece=piece,
            page=pages.get(piece.page_id) if piece else None,
            own=own.get(claim.id),
            note=notes.get(claim.id, ""),
        )


def _shown_piece(
    evidence: list[Evidence], badge: str, verdict: Verdict | None, pages: dict[str, Page]
) -> Evidence | None:
    """Return a passage for what the analyst says, or else for the model's verdict."""
    model = verdict.label if verdict else ""
    piece = nearest_evidence(evidence, badge.removeprefix(WEAK), pages)
    return piece or nearest_evidence(evidence, model, pages)
