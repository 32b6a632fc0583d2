"""The claims of a run as a table: CSV and XLSX."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from attribution.files import Cell, csv_text
from attribution.reports import Exported
from attribution.reports.bibliography import http_address, one_line, web_address
from attribution.reports.claim_rows import claim_rows
from attribution.reports.html import look
from attribution.reports.verdict_words import verdict_sentence
from attribution.types import Page

COLUMNS = (
    "number",
    "claim",
    "checked as",
    "start",
    "end",
    "corrected by hand",
    "assessment",
    "verdict",
    "confidence",
    "says",
    "reason",
    "passage",
    "source",
    "address",
    "read",
    "facts after",
    "note",
)
WIDTHS = {"claim": 60, "says": 40, "reason": 40, "passage": 60, "source": 30, "note": 30}


def write_csv(exported: Exported) -> str:
    """Write a row for each claim, with the passage that decides; no cell is a formula."""
    return csv_text([COLUMNS, *table_rows(exported)])


def write_xlsx(exported: Exported) -> bytes:
    """Write the same table as a workbook; no cell is a formula."""
    return workbook(COLUMNS, table_rows(exported))


def workbook(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """Write a table as a workbook; no cell is a formula."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment
    from openpyxl.utils import get_column_letter

    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "Claims"
    sheet.freeze_panes = "A2"
    sheet.append(list(columns))
    for number, name in enumerate(columns, 1):
        sheet.column_dimensions[get_column_letter(number)].width = WIDTHS.get(name, 14)
    for row in rows:
        sheet.append([one_line(cell) if isinstance(cell, str) else cell for cell in row])
        for cell in sheet[sheet.max_row]:
            cell.alignment = Alignment(vertical="top", wrap_text=True)
            if isinstance(cell.value, str):
                cell.data_type = "s"
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()


def table_rows(exported: Exported) -> Iterator[list[Cell]]:
    """Yield the cells of each claim under the names of COLUMNS."""
    for row in claim_rows(exported.report):
        cells: dict[str, Cell] = {"number": row.number, "claim": row.claim.text}
        cells["checked as"] = row.claim.enriched
        cells["start"] = min((start for start, _ in row.claim.spans), default=None)
        cells["end"] = max((end for _, end in row.claim.spans), default=None)
        cells["corrected by hand"] = "yes" if row.claim.id in exported.corrected else ""
        cells["assessment"] = look(row.own.label).word if row.own else ""
        cells["verdict"] = look(row.model_badge).word
        cells["says"] = verdict_sentence(row, len(exported.report.pages))
        cells["note"] = row.note
        if row.verdict:
            cells["confidence"] = row.verdict.confidence or None
            cells["reason"] = row.verdict.reason
        if row.piece:
            cells["passage"] = row.piece.deciding_sentence
        if row.page:
            cells |= _of_page(row.page)
        yield [cells.get(name) for name in COLUMNS]


def _of_page(page: Page) -> dict[str, Cell]:
    return {
        "source": page.cited,
        "address": web_address(page) or page.url,
        "read": page.fetched_at,
        "facts after": http_address(page.facts_from),
    }
