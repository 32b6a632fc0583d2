"""Read the rows of a table as lines of text: each cell with the head of its row and of its column."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import zip_longest

_NUMBER = re.compile(r"[\s(~<>≈±+\-−–$€£¥]*\d")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_RANK = re.compile(r"#?\d{1,3}[.)]?")
SEPARATORS = ",;\t|"
SAMPLE = 20  # lines of a file by which its separator is found
MAX_FIELD = 10_000_000  # characters of a field
_Row = Sequence[str]


def lines(grid: Sequence[_Row], heads: int | None = None) -> list[str]:
    """Return the rows as "Graz: inhabitants 290,000; area 127 km²".

    A wrong guess of the heads would join values that do not belong together. So only a row above
    figures is a head, or two rows, the upper of which names columns together. Rows of one cell
    above it are titles.

    Args:
        grid: The cells of each row.
        heads: How many of the first rows are heads; None to guess.
    """
    stripped = [[" ".join(cell.split()) for cell in row] for row in grid]
    rows = [row for row in stripped if any(row)]
    title_count = _count_titles(rows, anywhere=heads is None)
    titles = ["".join(row) for row in rows[:title_count]]
    rows = rows[title_count:]
    head_count = max(0, (heads or 0) - title_count) or int(_is_head(rows))
    if head_count < 2 and _spans_next(rows):
        head_count = 2
    if head_count >= len(rows):
        head_count = 0
    head_rows = rows[:head_count]
    names = _column_names(head_rows)
    shown_heads = [" | ".join(dict.fromkeys(filter(None, row))) for row in head_rows]
    return titles + shown_heads + [_line(names, row) for row in rows[head_count:]]


def _count_titles(rows: Sequence[_Row], anywhere: bool = False) -> int:
    """Return the number of rows of one cell at the top, in the first column unless `anywhere`."""
    for number, row in enumerate(rows):
        cells = sum(map(bool, row))
        if cells > 1 or not (anywhere or row[0]):
            return number
    return 0


def _column_names(heads: Sequence[_Row]) -> list[str]:
    """Return the name of each column from all rows of heads; upper heads span empty cells."""
    spread = [*map(_spread, heads[:-1]), *heads[-1:]]
    names = []
    for parts in zip_longest(*spread, fillvalue=""):
        name = " ".join(dict.fromkeys(filter(None, parts)))
        names.append(name.rstrip(": "))
    return names


def _spread(row: _Row) -> list[str]:
    """Repeat each head in the empty cells behind it."""
    heads: list[str] = []
    for cell in row:
        heads.append(cell or (heads[-1] if heads else ""))
    return heads


def _spans_next(rows: Sequence[_Row]) -> bool:
    """Return True if the first row names columns together, and the second each of them."""
    if len(rows) < 3:
        return False
    above = _spread(rows[0])
    has_spans = len(set(above)) < len(above)
    is_corner = not above[0] or rows[1][0] in ("", above[0])
    if not has_spans or not is_corner or len(rows[1]) != len(above):
        return False
    return _is_head(rows[1:], above[1:])


def _is_head(rows: Sequence[_Row], above: _Row = ()) -> bool:
    """Return True if the first row names columns, of which others hold figures."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    first, *names = rows[0]
    if _NUMBER.match(first) or not all(map(_is_name, names)):
        return False
    is_distinct = len(set(zip_longest(names, above))) == len(names)
    return is_distinct and any(_NUMBER.match(cell) for row in rows[1:] for cell in row[1:])


def _is_name(cell: str) -> bool:
    return bool(cell) and (_YEAR.fullmatch(cell) is not None or not _NUMBER.match(cell))


def _line(names: Sequence[str], row: _Row) -> str:
    cells = [(name, cell) for name, cell in zip_longest(names, row, fillvalue="") if cell]
    is_ranked = len(cells) > 2 and _RANK.fullmatch(cells[0][1])
    has_name = is_ranked and any(map(str.isalpha, cells[1][1]))
    _, subject = cells.pop(1 if has_name else 0)
    values = [cell if name in ("", cell) else f"{name} {cell}" for name, cell in cells]
    return f"{subject.rstrip(':')}: {'; '.join(values)}" if values else subject


def delimited(text: str, separator: str = "") -> list[str]:
    """Read comma-separated values as lines; the first row is the head if it can be.

    Without a separator, the one that most of the first lines have is taken.
    """
    if not separator:
        sample = text.lstrip().split("\n", SAMPLE)[:SAMPLE]

        def frequency(sign: str) -> tuple[int, int]:
            return sum(sign in line for line in sample), sample[0].count(sign)

        separator = max(SEPARATORS, key=frequency)
    csv.field_size_limit(MAX_FIELD)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator)
    rows = [row for row in reader if any(map(str.strip, row))]
    titles = _count_titles(rows)
    first = rows[titles] if titles < len(rows) else []
    has_head = all(_YEAR.fullmatch(cell) or not _NUMBER.match(cell) for cell in first)
    return lines(rows, titles + has_head)


_MARKDOWN_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_MARKDOWN_CELL = re.compile(r"(?<!\\)\|")


def without_pipes(markdown: str) -> str:
    """Return Markdown with its tables as lines; what stands between fences stays as it is."""
    source = markdown.split("\n")
    written: list[str] = []
    is_fenced = False
    at = 0
    while at < len(source):
        line = source[at]
        is_fenced ^= line.lstrip().startswith(("```", "~~~"))
        rule = source[at + 1] if at + 1 < len(source) else ""
        has_rule = "|" in rule and _MARKDOWN_RULE.fullmatch(rule)
        if is_fenced or "|" not in line or not has_rule:
            written.append(line)
            at += 1
            continue
        rows = [_markdown_row(line)]
        at += 2
        while at < len(source) and "|" in source[at]:
            rows.append(_markdown_row(source[at]))
            at += 1
        written += ["", "\n\n".join(lines(rows, 1)), ""]
    return "\n".join(written)


def _markdown_row(line: str) -> list[str]:
    cells = _MARKDOWN_CELL.split(line.strip().strip("|"))
    return [cell.replace("\\|", "|") for cell in cells]
