"""The claims of one run or of many as a table: CSV, XLSX and, of many, HTML."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from attribution.files import Cell, csv_text, format_cell
from attribution.reports import Exported
from attribution.reports.bibliography import http_address, one_line, web_address
from attribution.reports.claim_rows import claim_rows, verdict_sentence
from attribution.reports.html import document, el, plural, table
from attribution.reports.looks import look
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
    return _workbook(COLUMNS, table_rows(exported))


def _workbook(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
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


# --- the claims of many runs in one sheet ---

HEADS = ("answer", *COLUMNS)
SHOWN = ("answer", "claim", "assessment", "verdict", "says", "passage", "source", "note")
CSS = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0; }
th, td { border-bottom: 1px solid #8886; }
"""


@dataclass(frozen=True)
class Sheet:
    """A format of the sheet."""

    label: str
    suffix: str
    media_type: str
    write: Callable[[Sequence[Exported]], bytes]


def write_sheet_xlsx(runs: Sequence[Exported]) -> bytes:
    """Write a row for each claim of all runs as a workbook; no cell is a formula."""
    return _workbook(HEADS, _rows(runs))


def write_sheet_csv(runs: Sequence[Exported]) -> bytes:
    """Write the same rows as CSV, with the mark by which spreadsheets know UTF-8."""
    return csv_text([HEADS, *_rows(runs)]).encode("utf-8-sig", "replace")


def write_sheet_html(runs: Sequence[Exported]) -> bytes:
    """Write what is read most as one web page that opens without a network."""
    title = f"Claims of {plural(len(runs), 'answer')}"
    places = [HEADS.index(name) for name in SHOWN]
    lines: list[list[str]] = []
    for row in _rows(runs):
        cells = [row[place] for place in places]
        lines.append(["" if cell is None else format_cell(cell) for cell in cells])
    heads = [name.capitalize() for name in SHOWN]
    page = document(title, CSS, el("div", table(heads, lines)))
    return page.encode("utf-8", "replace")


def _rows(runs: Sequence[Exported]) -> Iterator[list[Cell]]:
    for exported in runs:
        for row in table_rows(exported):
            yield [exported.heading, *row]


XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
SHEETS = (
    Sheet("XLSX", ".xlsx", XLSX, write_sheet_xlsx),
    Sheet("CSV", ".csv", "text/csv", write_sheet_csv),
    Sheet("HTML", ".html", "text/html", write_sheet_html),
)
