"""Read the sheets of a workbook."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from attribution.fetching import tables
from attribution.fetching.packages import Package
from attribution.fetching.page import Extracted

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

MAX_EXACT = 1e15  # a larger float has no decimals
MAX_NAMED = 5  # formulas without a result


def read_xlsx(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the rows of each visible sheet, with values as they were last calculated.

    A formula that was never calculated stands as it is, and its cell is named.
    """
    import openpyxl

    package = Package(content, name)
    for member in package.members:  # fails where one is encrypted or too large
        package.read(member)
    book = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    formulas = openpyxl.load_workbook(io.BytesIO(content), read_only=True)
    texts = []
    open_formulas: list[str] = []
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        rows = _rows(sheet)
        for cells in formulas[sheet.title].iter_rows():
            for cell in cells:
                is_formula = isinstance(cell.value, str) and cell.value.startswith("=")
                if is_formula and not rows[cell.row - 1][cell.column - 1]:
                    rows[cell.row - 1][cell.column - 1] = str(cell.value)
                    open_formulas.append(cell.coordinate)
        lines = tables.lines(rows)
        if lines and len(book.worksheets) > 1:
            lines.insert(0, sheet.title)
        texts += lines
    unread = ""
    if open_formulas:
        cells_named = ", ".join(open_formulas[:MAX_NAMED])
        unread = f"the results of formulas that were never calculated, as in {cells_named}"
    return Extracted(book.properties.title or "", "\n\n".join(texts), unread=unread)


def _rows(sheet: Worksheet) -> list[list[str]]:
    """Return the texts of a sheet's cells; one that is merged downwards stands in each row."""
    rows = [
        [_cell_text(cell.value, cell.number_format) for cell in row] for row in sheet.iter_rows(1)
    ]
    for merged in sheet.merged_cells.ranges:
        for row in rows[merged.min_row : merged.max_row]:
            row[merged.min_col - 1] = rows[merged.min_row - 1][merged.min_col - 1]
    return rows


_CONDITION = re.compile(r"[<>]|\[=")  # a number format for some of the values
_MARKS = re.compile(r'\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|[\\"]')  # "[$€-407]", "[Red]", "_)"
_NUMBER_FORMAT = re.compile(
    r"""([^#0?@]*)            # what stands before the number
        ([#0?,]{0,60}[#0])    # its places
        (?:\.([#0?]+))?       # its decimals
        (,*)                  # thousands that are left out
        ([^#0?@]*)            # what stands after it""",
    re.VERBOSE,
)


def _cell_text(value: object, number_format: str) -> str:
    """Return a value as the sheet shows it, with its unit, grouping and decimals.

    Dates and times are written as "1987-05-14 07:40". A figure that is shown in thousands or
    rounded is written whole.
    """
    if value is None:
        return ""
    if hasattr(value, "isoformat"):
        written = str(value.isoformat()).removesuffix("T00:00:00")
        return written.replace("T", " ").removesuffix(":00")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    if abs(value) >= MAX_EXACT or _CONDITION.search(number_format):
        return str(value)
    form = _MARKS.sub(r"\1", number_format[:100].partition(";")[0])
    match = _NUMBER_FORMAT.fullmatch(form)
    before, places, decimals, omitted, after = match.groups("") if match else [""] * 5
    if omitted:
        before = after = ""
    factor = 100 if "%" in before + after else 1
    number = round(abs(value) * factor, 6)
    least = decimals.count("0")
    figures = f"{number:,.{least}f}" if round(number, least) == number else f"{number:,}"
    if "," not in places:
        figures = figures.replace(",", "")
    sign = "-" if value < 0 < number else ""
    return f"{sign}{before.lstrip()}{figures}{after.rstrip()}"
