"""A run's claims, each with everything that a view or a file tells of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from attribution.evidence.near_duplicates import nearest_evidence, with_similar_sentence
from attribution.reports.groups import group_of
from attribution.types import WEAK, AnalystVerdict, Claim, Evidence, Page, Report, Verdict
from attribution.verifiers.calibration import assessments, badge_of, model_badge

_PARAGRAPH = re.compile(r"\n[^\S\n]*+\n\s*+|\n#++ ")
CONTEXT = 120  # characters shown on either side of the deciding sentence


class Quote(NamedTuple):
    """A deciding sentence with the text around it, within its paragraph."""

    before: str
    sentence: str
    after: str


def quote(piece: Evidence, page: Page | None) -> Quote:
    """Return the deciding sentence of a passage in its context."""
    text, (first, last) = piece.text, piece.sentence
    if page and page.text[piece.start : piece.end] == piece.text:
        text = page.text
    else:
        first, last = first - piece.start, last - piece.start
    if not 0 <= first < last <= len(text):
        return Quote("", piece.text, "")
    before = _PARAGRAPH.split(text[max(0, first - CONTEXT) : first])[-1].lstrip()
    after = _PARAGRAPH.split(text[last : last + CONTEXT])[0].rstrip()
    if len(before) >= CONTEXT - 1:
        before = "… " + before.partition(" ")[2]
    if len(after) >= CONTEXT - 1:
        after = after.rpartition(" ")[0] + " …"
    return Quote(before, text[first:last], after)


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
