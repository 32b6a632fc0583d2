"""The claims of a run as a table: CSV and XLSX."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

from attribution.evidence.near_duplicates import nearest_evidence
from attribution.evidence.origins import sources
from attribution.files import Cell, csv_text
from attribution.reports import Exported
from attribution.reports.bibliography import http_address, one_line, web_address
from attribution.reports.html import look
from attribution.reports.trail import kind_of_page
from attribution.types import Claim, Evidence, Page, Report, Verdict
from attribution.verifiers.calibration import badge_of

COLUMNS = (
    "number",
    "claim",
    "checked as",
    "start",
    "end",
    "corrected by hand",
    "worthiness",
    "verdict",
    "confidence",
    "reason",
    "other reader's verdict",
    "sources",
    "passage",
    "source",
    "kind of page",
    "address",
    "read",
    "facts after",
    "analyst's verdict",
    "analyst's note",
)


def write_csv(exported: Exported) -> str:
    """A row for each claim, with the passage that decides; no cell is a formula."""
    return csv_text([COLUMNS, *claim_rows(exported)])


def write_xlsx(exported: Exported) -> bytes:
    """The same table as a workbook; no cell is a formula."""
    from openpyxl import Workbook

    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "Claims"
    sheet.freeze_panes = "A2"
    sheet.append(COLUMNS)
    for row in claim_rows(exported):
        sheet.append([one_line(cell) if isinstance(cell, str) else cell for cell in row])
        for cell in sheet[sheet.max_row]:
            if isinstance(cell.value, str):
                cell.data_type = "s"
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()


def claim_rows(exported: Exported) -> Iterator[list[Cell]]:
    """Yield the cells of each claim under the names of COLUMNS."""
    report = exported.report
    pages = {page.id: page for page in report.pages}
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    for number, claim in enumerate(report.claims, 1):
        verdict = verdicts.get(claim.id)
        cells: dict[str, Cell] = {"number": number}
        cells |= _of_claim(claim, claim.id in exported.corrected)
        cells |= _of_verdict(verdict, report)
        cells |= _of_evidence(claim, verdict, report, pages)
        cells |= _of_analyst(claim, report)
        yield [cells.get(name, "") for name in COLUMNS]


def _of_claim(claim: Claim, is_corrected: bool) -> dict[str, Cell]:
    return {
        "claim": claim.text,
        "checked as": claim.enriched or "",
        "start": min((start for start, _ in claim.spans), default=None),
        "end": max((end for _, end in claim.spans), default=None),
        "corrected by hand": "yes" if is_corrected else "",
        "worthiness": claim.worthiness or "",
    }


def _of_verdict(verdict: Verdict | None, report: Report) -> dict[str, Cell]:
    cells: dict[str, Cell] = {"verdict": look(badge_of(verdict, report)).word, "confidence": None}
    if verdict:
        cells["confidence"] = verdict.confidence or None
        cells["reason"] = verdict.reason
        if verdict.other:
            other = look(verdict.other.label).word
            cells["other reader's verdict"] = f"{verdict.other.reader}: {other}"
    return cells


def _of_evidence(
    claim: Claim, verdict: Verdict | None, report: Report, pages: Mapping[str, Page]
) -> dict[str, Cell]:
    evidence = [e for e in report.evidence if e.claim_id == claim.id]
    piece = nearest_evidence(evidence, verdict.label if verdict else "", pages)
    if piece is None:
        return {}
    cells: dict[str, Cell] = {"passage": piece.deciding_sentence}
    page = pages.get(piece.page_id)
    if page:
        cells["sources"] = sources(_pages_with_relation(evidence, piece, pages))
        cells["source"] = page.cited
        cells["kind of page"] = kind_of_page(page)
        cells["address"] = web_address(page) or page.url
        cells["read"] = page.fetched_at
        cells["facts after"] = http_address(page.facts_from)
    return cells


def _pages_with_relation(
    evidence: list[Evidence], piece: Evidence, pages: Mapping[str, Page]
) -> list[Page]:
    ids = [e.page_id for e in evidence if e.relation == piece.relation]
    return [pages[page_id] for page_id in ids if page_id in pages]


def _of_analyst(claim: Claim, report: Report) -> dict[str, Cell]:
    for judgement in report.judgements:
        if judgement.claim_id == claim.id:
            word = look(judgement.label).word
            return {"analyst's verdict": word, "analyst's note": judgement.note}
    return {}
