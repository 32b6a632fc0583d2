"""The claims of one run or of many as a table: CSV, XLSX and HTML."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.reports import Exported
from attribution.reports.bibliography import http_address, one_line, web_address
from attribution.reports.claim_rows import claim_rows, verdict_sentence
from attribution.reports.html import document, el, plural, table
from attribution.reports.looks import look
from attribution.text_files import Cell, csv_text
from attribution.types import Page

COLUMNS = (
    "answer",
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
SHOWN = ("answer", "claim", "assessment", "verdict", "says", "passage", "source", "note")
CSS = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0; }
th, td { border-bottom: 1px solid #8886; }
"""
WIDTHS = {"claim": 60, "says": 40, "reason": 40, "passage": 60, "source": 30, "note": 30}


def write_csv(*runs: Exported) -> bytes:
    """Write a row for each claim, with the mark by which spreadsheets know UTF-8."""
    return csv_text([COLUMNS, *_rows(runs)]).encode("utf-8-sig", "replace")


def write_xlsx(*runs: Exported) -> bytes:
    """Write the same rows as a workbook; no cell is a formula."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment
    from openpyxl.utils import get_column_letter

    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "Claims"
    sheet.freeze_panes = "A2"
    sheet.append(list(COLUMNS))
    for number, name in enumerate(COLUMNS, 1):
        sheet.column_dimensions[get_column_letter(number)].width = WIDTHS.get(name, 14)
    for row in _rows(runs):
        sheet.append([one_line(cell) if isinstance(cell, str) else cell for cell in row])
        for cell in sheet[sheet.max_row]:
            cell.alignment = Alignment(vertical="top", wrap_text=True)
            if isinstance(cell.value, str):
                cell.data_type = "s"
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()


def write_html(*runs: Exported) -> bytes:
    """Write what is read most as one web page that opens without a network."""
    title = f"Claims of {plural(len(runs), 'answer')}"
    lines: list[list[str]] = []
    for exported in runs:
        for cells in table_rows(exported):
            lines.append([str(cells.get(name) or "") for name in SHOWN])
    heads = [name.capitalize() for name in SHOWN]
    page = document(title, CSS, el("div", table(heads, lines)))
    return page.encode("utf-8", "replace")


def _rows(runs: Sequence[Exported]) -> Iterator[list[Cell]]:
    for exported in runs:
        for cells in table_rows(exported):
            yield [cells.get(name) for name in COLUMNS]


def table_rows(exported: Exported) -> Iterator[dict[str, Cell]]:
    """Yield the cells of each claim by the names of COLUMNS; some are missing without a passage."""
    for row in claim_rows(exported.report):
        cells: dict[str, Cell] = {}
        cells["answer"] = exported.heading
        cells["number"] = row.number
        cells["claim"] = row.claim.text
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
        yield cells


def _of_page(page: Page) -> dict[str, Cell]:
    return {
        "source": page.cited,
        "address": web_address(page) or page.url,
        "read": page.fetched_at,
        "facts after": http_address(page.facts_from),
    }


@dataclass(frozen=True)
class Sheet:
    """A format of the claims of many runs."""

    label: str
    suffix: str
    media_type: str
    write: Callable[..., bytes]


XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
SHEETS = (
    Sheet("XLSX", ".xlsx", XLSX, write_xlsx),
    Sheet("CSV", ".csv", "text/csv", write_csv),
    Sheet("HTML", ".html", "text/html", write_html),
)
