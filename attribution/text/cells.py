"""Word the cells of an answer's table as people say them: "Wind: 984 (2023, € million)"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

NUMBERING = frozenset(("", "#", "no", "no.", "nr", "nr.", "rank", "place", "pos", "pos."))
EMPTY = re.compile(r"[\W_]*|n/?a|none|unknown", re.IGNORECASE)
ANSWERS = {"yes": "✅ ✔ ✔️ ✓ ☑ ☑️ yes Yes", "no": "❌ ✗ ✘ ✖ ✖️ no No"}
SAID = {mark: word for word, marks in ANSWERS.items() for mark in marks.split()}
CORNERS = frozenset(  # first heads of tables that compare the things in their head
    """feature features aspect aspects criterion criteria property attribute characteristic
    specification spec metric parameter detail""".split()
)


class Wording(NamedTuple):
    """The words around a cell, or, without `has_cell`, in its place."""

    before: str
    after: str
    has_cell: bool = True


def wordings(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[Wording | None]]:
    """Return how each cell is said; None for one that states nothing."""
    is_turned = _compares_heads(heads, rows)
    worded: list[list[Wording | None]] = []
    for cells in rows:
        first = _row_head(heads, cells)
        row: list[Wording | None] = []
        for column, cell in enumerate(cells):
            head = heads[column] if column < len(heads) else ""
            if column == first:
                row.append(None if len(cells) > 1 else Wording("", ""))
            elif is_turned:
                row.append(_wording(head, cells[first], cell))
            else:
                row.append(_wording(cells[first], head, cell))
        worded.append(row)
    return worded


def _row_head(heads: Sequence[str], cells: Sequence[str]) -> int:
    """Return the column that names the rows: the first that is no numbering."""
    is_long = len(cells) > 2 and bool(heads)
    is_numbered = is_long and cells[0].rstrip(".").isdigit() and heads[0].casefold() in NUMBERING
    return int(is_numbered)


def _compares_heads(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return True for "| | Alder | Birch |": columns are things, rows are what they have."""
    corner = heads[0].casefold() if heads else ""
    if corner or len(heads) < 3:
        return corner in CORNERS
    columns = list(zip_longest(*rows, fillvalue=""))[1:]
    return all(_is_uniform(row[1:]) for row in rows) and not all(map(_is_uniform, columns))


def _is_uniform(cells: Sequence[str]) -> bool:
    """Return True for cells of one kind: figures, signs or words."""
    kinds = {(any(map(str.isdigit, cell)), cell in SAID) for cell in cells if cell}
    return len(kinds) < 2


def _wording(name: str, head: str, cell: str) -> Wording | None:
    answer = SAID.get(cell)
    if answer is None and EMPTY.fullmatch(cell):
        return None
    name = f"{name}: " if name else ""
    if answer:
        return Wording(f"{name}{head}: {answer}" if head else f"{name}{answer}", "", False)
    if any(map(str.isdigit, cell)):
        return Wording(name, f" ({head})" if head else "")
    return Wording(f"{name}{head}: " if head else name, "")
