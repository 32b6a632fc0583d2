"""Read the sheets of a workbook."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from attribution.fetching import tables
from attribution.fetching.office import Package
from attribution.fetching.page import Extracted

MAX_EXACT = 1e15  # a larger float has no decimals
MAX_NAMED = 5  # formulas without a result


_MERGED = re.compile(rb'<mergeCell ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
_OPEN_FORMULA = re.compile(  # without a result
    rb'<c r="([A-Z]{1,3}\d{1,7})"[^<>]*><f[^<>]*(?:/>|>([^<]*)</f>)(?:<v\s?/>|<v></v>)?</c>'
)


def read_xlsx(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the rows of each visible sheet, with values as they were last calculated.

    A formula that was never calculated stands as it is, and its cell is named.
    """
    import openpyxl

    package = Package(content, name)
    for member in package.members:  # fails where one is encrypted or too large
        package.read(member)
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    sources = dict(_sources(Package(content, name)))
    texts = []
    open_formulas: list[str] = []
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        rows = [
            [_cell_text(cell.value, cell.number_format) for cell in row]
            for row in sheet.iter_rows(1)
        ]
        source = sources.get(sheet.title, b"")
        open_formulas += _write_formulas(rows, source)
        _repeat_merged(rows, source)
        lines = tables.lines(rows)
        if lines and len(book.worksheets) > 1:
            lines.insert(0, sheet.title)
        texts += lines
    unread = ""
    if open_formulas:
        cells = ", ".join(open_formulas[:MAX_NAMED])
        unread = f"the results of formulas that were never calculated, as in {cells}"
    return Extracted(book.properties.title or "", "\n\n".join(texts), unread=unread)


def _sources(package: Package) -> Iterator[tuple[str, bytes]]:
    """Yield the title and the XML of each sheet."""
    main = package.main_part("xl/workbook.xml")
    paths = {part.id: part.path for part in package.related(main)}
    for sheet in package.xml(main).iter("{*}sheet"):
        for key, value in sheet.items():
            if key.endswith("}id") and value in paths:
                yield sheet.get("name") or "", package.read(paths[value])


def _write_formulas(rows: list[list[str]], source: bytes) -> Iterator[str]:
    """Write formulas that have no result into their cells, and yield the cells."""
    from openpyxl.utils import range_boundaries

    for match in _OPEN_FORMULA.finditer(source):
        name = match[1].decode()
        column, row, _, _ = range_boundaries(name)
        if row <= len(rows) and column <= len(rows[row - 1]):
            rows[row - 1][column - 1] = f"={(match[2] or b'').decode('utf-8', 'replace')}"
            yield name


def _repeat_merged(rows: list[list[str]], source: bytes) -> None:
    """Repeat a text in the rows below it that its cell is merged with."""
    from openpyxl.utils import range_boundaries

    for match in _MERGED.finditer(source):
        column, first, _, last = range_boundaries(match[1].decode())
        for row in rows[first:last]:
            if column <= len(row):
                row[column - 1] = rows[first - 1][column - 1]


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
