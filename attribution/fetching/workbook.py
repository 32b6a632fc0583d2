"""Read the sheets of a workbook."""

from __future__ import annotations

import io
import re
from itertools import islice
from typing import TYPE_CHECKING

from attribution.fetching import table_text
from attribution.fetching.office import Package
from attribution.fetching.page import Extracted

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

MAX_NAMED = 5  # formulas without a result
_UNNAMED = re.compile(r"Sheet|[^\W\d]+ ?\d+")  # "Sheet1", "Tabelle 1"
_CURRENCY = re.compile(r"[$€£¥]")


def read_xlsx(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the rows of each visible sheet, with values as they were last calculated.

    A formula that was never calculated stands as it is, and its cell is named.
    """
    from openpyxl import load_workbook

    package = Package(content)
    for member in package.members:
        package.read(member)  # fails where it is too large
    book = load_workbook(io.BytesIO(content), data_only=True)
    formulas = load_workbook(io.BytesIO(content), read_only=True)
    texts = []
    unread: list[str] = []
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        lines = table_text.lines(_rows(sheet, formulas[sheet.title], unread))
        if lines and len(book.worksheets) > 1:
            lines.insert(0, sheet.title)
        texts += lines
    named = [sheet.title for sheet in book.worksheets if not _UNNAMED.fullmatch(sheet.title)]
    problem = "the results of formulas that were never calculated, as in "
    return Extracted(
        book.properties.title or (named[0] if len(book.worksheets) == len(named) == 1 else ""),
        "\n\n".join(texts),
        unread=problem + ", ".join(unread[:MAX_NAMED]) if unread else "",
    )


def first_sheet(content: bytes, name: str, rows: int) -> list[list[str]]:
    """Return so many of the first rows of the first sheet, without the formats of their cells.

    Raises:
        FetchFailed: As `Package` does.
    """
    from openpyxl import load_workbook

    Package(content)  # fails where it is none
    book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    lines = islice(book.worksheets[0].iter_rows(values_only=True), rows)
    return [["" if cell is None else str(cell) for cell in line] for line in lines]


def _rows(sheet: Worksheet, formulas: Worksheet, unread: list[str]) -> list[list[str]]:
    """Return the cells of a sheet; a value that spans rows stands in each of them.

    Args:
        sheet: The values.
        formulas: The same sheet with its formulas.
        unread: Gets the cells whose formulas have no result.
    """
    rows: list[list[str]] = []
    for row in sheet.iter_rows():
        rows.append([_cell_text(cell.value, cell.number_format) for cell in row])
    for row in formulas.iter_rows():
        for cell in row:
            if cell.data_type == "f" and not rows[cell.row - 1][cell.column - 1]:
                rows[cell.row - 1][cell.column - 1] = str(getattr(cell.value, "text", cell.value))
                unread.append(cell.coordinate)
    for merged in sheet.merged_cells.ranges:
        for number in range(merged.min_row, merged.max_row):
            rows[number][merged.min_col - 1] = rows[merged.min_row - 1][merged.min_col - 1]
    return rows


def _cell_text(value: object, number_format: str) -> str:
    """Return a value with its currency, grouping or per cent; dates as "1987-05-14 07:40"."""
    if value is None:
        return ""
    if hasattr(value, "isoformat"):
        written = str(value.isoformat()).removesuffix("T00:00:00")
        return written.replace("T", " ").removesuffix(":00")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    if "%" in number_format:
        return f"{round(value * 100, 6):g}%"
    symbol = _CURRENCY.search(number_format)
    figure = f"{abs(value):,}" if "," in number_format else str(abs(value))
    sign = "-" if value < 0 else ""
    return f"{sign}{symbol[0] if symbol else ''}{figure}"
