"""Read the rows of a table as lines of text: each cell with the heads of its row and column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby, takewhile, zip_longest

_NUMBER = re.compile(r"[\s(~<>≈±+\-−–$€£¥]*\d")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
SEPARATORS = "\t,;|"
SAMPLE = 20  # lines of a file by which its separator is found
_Row = Sequence[str]


def lines(grid: Sequence[_Row], heads: int = 0, caption: str = "") -> list[str]:
    """Return the rows as "Graz: inhabitants 290,000; area 127 km²".

    A wrong guess of the heads would join values that do not belong together. So only a row above
    figures is a head. Narrower rows above it are titles.

    Args:
        grid: The cells of each row.
        heads: How many of the first rows are titles and heads; 0 to guess, and to divide the grid
            at empty rows below which there is another head.
        caption: What stands above the table; it may name the scale of its figures.
    """
    stripped = [[" ".join(cell.split()) for cell in row] for row in grid]
    tables: list[list[_Row]] = [[row for row in stripped if any(row)]]
    if not heads:
        tables = _divided(stripped)
    written = []
    for table in tables:
        written += _table_lines(table, heads, caption)
    return written


def _divided(grid: Sequence[_Row]) -> list[list[_Row]]:
    """Return the tables of a grid, which begin with a head below an empty row."""
    divided: list[list[_Row]] = []
    for has_cells, group in groupby(grid, any):
        if not has_cells:
            continue
        rows = list(group)
        width = max(map(_width, rows))
        table = [row[:width] for row in rows]
        if not divided or _is_head(table[_count_titles(table) :]):
            divided.append(table)
        else:
            divided[-1] += table
    return divided


def _table_lines(rows: Sequence[_Row], heads: int, caption: str) -> list[str]:
    title_count = _count_titles(rows)
    titles = [", ".join(filter(None, row)) for row in rows[:title_count]]
    rows = rows[title_count:]
    head_count = max(0, heads - title_count) or int(_is_head(rows))
    if head_count >= len(rows):
        head_count = 0
    head_rows = rows[:head_count]
    names = _column_names(head_rows)
    shown_heads = [" | ".join(dict.fromkeys(filter(None, row))) for row in head_rows]
    scale = _scale(" ".join([caption, *titles, *names[:1]]))
    body = [_line(names, _scaled(row, names, scale)) for row in rows[head_count:]]
    return titles + shown_heads + body


def _count_titles(rows: Sequence[_Row]) -> int:
    """Return the number of rows at the top that are narrower than most rows."""
    widths = list(map(_width, rows))
    usual = max(widths, key=lambda width: (widths.count(width), width), default=0)
    return sum(1 for _ in takewhile(lambda width: width < usual, widths))


def _column_names(heads: Sequence[_Row]) -> list[str]:
    """Return the name of each column from all rows of heads; upper heads span empty cells."""
    spread: list[Iterable[str]] = [
        accumulate(row, lambda left, cell: cell or left) for row in heads[:-1]
    ]
    names = []
    for parts in zip_longest(*spread, *heads[-1:], fillvalue=""):
        name = " ".join(dict.fromkeys(filter(None, parts)))
        names.append(name.rstrip(": "))
    return names


def _is_head(rows: Sequence[_Row]) -> bool:
    """Return True if the first row names columns, of which others hold figures."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    first, *names = rows[0]
    if _NUMBER.match(first) or not all(map(_is_name, names)) or len(set(names)) < len(names):
        return False
    return any(_NUMBER.match(cell) for row in rows[1:] for cell in row[1:])


def _is_name(cell: str) -> bool:
    return bool(cell) and (_YEAR.fullmatch(cell) is not None or not _NUMBER.match(cell))


def _line(names: Sequence[str], row: _Row) -> str:
    cells = [(name, cell) for name, cell in zip_longest(names, row, fillvalue="") if cell]
    _, subject = cells.pop(0)
    values = [cell if name in ("", cell) else f"{name} {cell}" for name, cell in cells]
    return f"{subject.rstrip(':')}: {'; '.join(values)}" if values else subject


# --- figures in thousands and millions ---

_SCALE = re.compile(
    r"""(?: \bin\s+(?P<before>US\$|[$€£¥])?\s?      # in $ millions
          | (?:^|\()(?=\w+s\b)                     # (thousands of euros)
          | (?P<alone>US\$|[$€£¥])\s?(?:in\s)?      # $ in thousands
        )
        (?P<scale>thousand|million|billion|mn?\b|bn\b)s?
        (?P<unit>\s+of\s+(?:euros|pounds|U\.S\.\ dollars|dollars|tonnes))?
        (?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_SCALES = {"m": "million", "mn": "million", "bn": "billion"}
_UNSCALED = re.compile(
    r"%|\b(?:per|ratio|rate|margin|number|headcount|employees|years?|date)\b", re.I
)
_PLAIN_FIGURE = re.compile(r"(?P<sign>[-−–(]?)[$€£¥]?\s?(?P<figure>\d[\d,.\s]{0,30})\)?")


def _scale(text: str) -> str:
    """Return how figures are written by the scale in a text, as "${} million"; empty if none."""
    match = _SCALE.search(text)
    if match is None:
        return ""
    word = match["scale"].lower()
    unit = (match["unit"] or "").replace(" of", "", 1)
    return f"{match['before'] or match['alone'] or ''}{{}} {_SCALES.get(word, word)}{unit}"


def _scaled(row: _Row, names: Sequence[str], scale: str) -> _Row:
    """Return a row whose figures have the scale of their column, or of the table."""
    if _UNSCALED.search(row[0]):
        return row
    scaled = list(row[:1])
    for name, cell in zip_longest(names[1:], row[1:], fillvalue=""):
        match = _PLAIN_FIGURE.fullmatch(cell)
        own_scale = _scale(name) or scale
        if match and own_scale and not _UNSCALED.search(name):
            cell = ("-" if match["sign"] else "") + own_scale.format(match["figure"].strip())
        scaled.append(cell)
    return scaled


# --- text with separators ---

csv.field_size_limit(2**31 - 1)  # the size of a file is limited
_SEPARATOR_LINE = re.compile(r"\Asep=.\r?\n", re.IGNORECASE)


def delimited(text: str) -> list[str]:
    """Read comma-separated values as lines.

    The separator is the one that most of the first lines have.
    """
    text = _SEPARATOR_LINE.sub("", text)
    sample = text.split("\n")[:SAMPLE]
    separator = max(SEPARATORS, key=lambda sign: sum(sign in line for line in sample))
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator, skipinitialspace=True)
    rows = [row for row in reader if _width(row)]
    title_count = _count_titles(rows)
    head = rows[title_count] if rows else []
    has_head = all(map(_is_name, filter(None, head)))
    return lines(rows, title_count + int(has_head))


def _width(row: _Row) -> int:
    """Return the number of cells without the empty ones at the end."""
    return max((n for n, cell in enumerate(row, 1) if cell.strip()), default=0)
