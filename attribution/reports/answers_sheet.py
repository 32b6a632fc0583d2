"""The claims of many runs in one sheet: XLSX, CSV and HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.files import Cell, csv_text, format_cell
from attribution.reports import Exported
from attribution.reports.claims_table import COLUMNS, table_rows, workbook
from attribution.reports.html import document, el, plural, table

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


def write_xlsx(runs: Sequence[Exported]) -> bytes:
    """Write a row for each claim of all runs as a workbook; no cell is a formula."""
    return workbook(HEADS, _rows(runs))


def write_csv(runs: Sequence[Exported]) -> bytes:
    """Write the same rows as CSV, with the mark by which spreadsheets know UTF-8."""
    return csv_text([HEADS, *_rows(runs)]).encode("utf-8-sig", "replace")


def write_html(runs: Sequence[Exported]) -> bytes:
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


SHEETS = (
    Sheet(
        "XLSX",
        ".xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        write_xlsx,
    ),
    Sheet("CSV", ".csv", "text/csv", write_csv),
    Sheet("HTML", ".html", "text/html", write_html),
)
