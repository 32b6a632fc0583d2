"""Read the rows of a table as lines of text: each cell with the head of its row and of its column."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import zip_longest

_NUMBER = re.compile(r"[\s(~<>≈±+\-−–$€£¥]*\d")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_RANK = re.compile(r"#?\d{1,3}[.)]?")


def lines(grid: Sequence[Sequence[str]], heads: int | None = None) -> list[str]:
    """Return the rows as "Graz: inhabitants 290,000; area 127 km²", below the first `heads` rows
    (None: guess).

    A wrong guess would join values that do not belong together, so that only a row above figures is
    a head, or two, the
    upper of which names columns together. Rows of one cell above it are titles.
    """
    rows = [[" ".join(cell.split()) for cell in row] for row in grid]
    rows = [row for row in rows if any(row)]
    above = _titles(rows, heads is None)
    titles, rows = ["".join(row) for row in rows[:above]], rows[above:]
    heads = max(0, (heads or 0) - above) or int(_looks_like_head(rows))
    heads = 2 if heads < 2 and _spans_another(rows) else heads if heads < len(rows) else 0
    columns = zip_longest(
        *map(_spread, rows[: max(0, heads - 1)]), *rows[:heads][-1:], fillvalue=""
    )
    names = [" ".join(dict.fromkeys(filter(None, column))).rstrip(": ") for column in columns]
    shown = [" | ".join(dict.fromkeys(filter(None, row))) for row in rows[:heads]]
    return titles + shown + [_line(names, row) for row in rows[heads:]]


def _titles(rows: Sequence[Sequence[str]], anywhere: bool = False) -> int:
    return next(
        (n for n, row in enumerate(rows) if sum(map(bool, row)) > 1 or not (anywhere or row[0])), 0
    )


def _spread(row: Sequence[str]) -> list[str]:
    """A row of heads, each of which stands for the empty cells behind it too."""
    heads = [""]
    for cell in row:
        heads.append(cell or heads[-1])
    return heads[1:]


def _spans_another(rows: Sequence[Sequence[str]]) -> bool:
    """True if the first row names columns together, and the second each of them."""
    above = _spread(rows[0]) if rows else []
    spans = (
        len(set(above)) < len(above)
        and len(rows) > 2
        and (not above[0] or rows[1][0] in ("", above[0]))
    )
    return spans and len(rows[1]) == len(above) and _looks_like_head(rows[1:], above[1:])


def _looks_like_head(rows: Sequence[Sequence[str]], above: Sequence[str] = ()) -> bool:
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    first, *others = rows[0]
    named = all(cell and (_YEAR.fullmatch(cell) or not _NUMBER.match(cell)) for cell in others)
    figures = any(_NUMBER.match(cell) for row in rows[1:] for cell in row[1:])
    return (
        named
        and figures
        and not _NUMBER.match(first)
        and len(set(zip_longest(others, above))) == len(others)
    )


def _line(names: Sequence[str], row: Sequence[str]) -> str:
    cells = [(name, cell) for name, cell in zip_longest(names, row, fillvalue="") if cell]
    ranked = len(cells) > 2 and _RANK.fullmatch(cells[0][1]) and any(map(str.isalpha, cells[1][1]))
    _, subject = cells.pop(1 if ranked else 0)
    values = "; ".join(cell if name in ("", cell) else f"{name} {cell}" for name, cell in cells)
    return f"{subject.rstrip(':')}: {values}" if values else subject


def delimited(text: str, separator: str = "") -> list[str]:
    """Read comma-separated values, or those of another separator, as lines; the first row is the
    head if it can be.
    """
    if not separator:
        first = text.lstrip().split("\n", 20)[:20]
        separator = max(
            ",;\t|", key=lambda sign: (sum(sign in line for line in first), first[0].count(sign))
        )
    csv.field_size_limit(10_000_000)
    rows = [
        row
        for row in csv.reader(text.splitlines(keepends=True), delimiter=separator)
        if any(map(str.strip, row))
    ]
    above = _titles(rows)
    titled = all(
        not _NUMBER.match(cell) or _YEAR.fullmatch(cell)
        for row in rows[above : above + 1]
        for cell in row
    )
    return lines(rows, above + titled)


_PIPES = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_CELL = re.compile(r"(?<!\\)\|")


def without_pipes(markdown: str) -> str:
    """Return Markdown with its tables as lines; what stands between fences stays as it is."""
    if "|" not in markdown:
        return markdown
    written = markdown.split("\n")
    out: list[str] = []
    fenced, at = False, 0
    while at < len(written):
        line = written[at]
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        rule = written[at + 1] if at + 1 < len(written) else ""
        if fenced or "|" not in line or not ("|" in rule and _PIPES.fullmatch(rule)):
            out.append(line)
            at += 1
            continue
        end = at + 2
        while end < len(written) and "|" in written[end]:
            end += 1
        rows = (_CELL.split(row.strip().strip("|")) for row in (line, *written[at + 2 : end]))
        grid = [[cell.replace("\\|", "|") for cell in row] for row in rows]
        out += ["", "\n\n".join(lines(grid, 1)), ""]
        at = end
    return "\n".join(out)
