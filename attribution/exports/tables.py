"""Claims and evidence as CSV, for spreadsheets; nothing in them is taken for a formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attribution.evaluation.tables import Cell, csv_text
from attribution.evidence.near_duplicates import deciding_evidence
from attribution.exports import Exported
from attribution.exports.looks import RELATIONS, look
from attribution.exports.sources import http_address, web_address
from attribution.types import Page

CLAIMS = (
    "number", "claim", "checked as", "start", "end", "corrected by hand", "worthiness", "verdict", "confidence",
    "reason", "passage", "source", "address", "read", "facts after",
)  # fmt: skip
EVIDENCE = (
    "claim number", "claim", "relation", "entailed", "contradicted", "no relation", "similarity", "sentence",
    "passage", "source", "address", "start", "end", "searcher", "rank", "query", "read", "SHA-256", "facts after",
)  # fmt: skip


def claims(exported: Exported) -> str:
    """A row for each claim, with the passage that decides."""
    return csv_text([CLAIMS, *_claims(exported)])


def evidence(exported: Exported) -> str:
    """A row for each passage that was compared with a claim."""
    return csv_text([EVIDENCE, *_evidence(exported)])


def _claims(exported: Exported) -> Iterator[Sequence[Cell]]:
    report = exported.report
    pages = {page.id: page for page in report.pages}
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    for number, claim in enumerate(report.claims, 1):
        verdict = verdicts.get(claim.id)
        piece = deciding_evidence([e for e in report.evidence if e.claim_id == claim.id], pages)
        page = pages.get(piece.page_id) if piece else None
        yield (
            number, claim.text, claim.enriched or "", min((a for a, _ in claim.spans), default=None),
            max((b for _, b in claim.spans), default=None), "yes" if claim.id in exported.corrected else "",
            claim.worthiness or "", look(verdict.label if verdict else "not_reached").word,
            verdict.confidence if verdict and verdict.confidence else None, verdict.reason if verdict else "",
            piece.deciding_sentence if piece else "", page.cited if page else "", _address(page),
            page.fetched_at if page else "", http_address(page.facts_from) if page else "",
        )  # fmt: skip


def _evidence(exported: Exported) -> Iterator[Sequence[Cell]]:
    report = exported.report
    pages = {page.id: page for page in report.pages}
    claims = {claim.id: (number, claim) for number, claim in enumerate(report.claims, 1)}
    for piece in report.evidence:
        number, claim = claims[piece.claim_id]
        page, p = pages.get(piece.page_id), piece.probabilities
        yield (
            number, claim.statement, RELATIONS[piece.relation][1], p.entailed, p.contradicted, p.no_relation,
            piece.similarity, piece.deciding_sentence, piece.text, page.cited if page else "", _address(page),
            piece.start, piece.end, piece.searcher, piece.rank or None, piece.query,
            page.fetched_at if page else "", page.sha256 if page else "",
            http_address(page.facts_from) if page else "",
        )  # fmt: skip


def _address(page: Page | None) -> str:
    return (web_address(page) or page.url) if page else ""
