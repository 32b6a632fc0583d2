"""Word the cells of an answer's table as people say them: "Wind: 984 (2023, € million)"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

NUMBERING = frozenset(("", "#", "no", "no.", "nr", "nr.", "rank", "place", "pos", "pos."))
EMPTY = re.compile(r"[\W_]*|n/?a|none|unknown", re.IGNORECASE)
ANSWERS = {"yes": "✅ ✔ ✔️ ✓ ☑ ☑️ yes Yes", "no": "❌ ✗ ✘ ✖ ✖️ no No"}
SAID = {mark: word for word, marks in ANSWERS.items() for mark in marks.split()}


class Wording(NamedTuple):
    """The words around a cell, or, without `has_cell`, in its place."""

    before: str
    after: str
    has_cell: bool = True


def row_head(heads: Sequence[str], cells: Sequence[str]) -> int:
    """Return the column that names the rows: the first that is no numbering."""
    is_numbered = (
        len(cells) > 2
        and bool(heads)
        and cells[0].rstrip(".").isdigit()
        and heads[0].casefold() in NUMBERING
    )
    return int(is_numbered)


def wording(heads: Sequence[str], cells: Sequence[str], column: int) -> Wording | None:
    """Return how the cell of a column is said after its row's name; None if it states nothing."""
    first = row_head(heads, cells)
    cell = cells[column]
    if column == first and len(cells) > 1:
        return None
    answer = SAID.get(cell)
    if answer is None and EMPTY.fullmatch(cell):
        return None
    head = heads[column] if column < len(heads) else ""
    name = f"{cells[first]}: " if column != first and cells[first] else ""
    if answer:
        return Wording(f"{name}{head}: {answer}" if head else f"{name}{answer}", "", False)
    if any(character.isdigit() for character in cell):
        return Wording(name, f" ({head})" if head else "")
    return Wording(f"{name}{head}: " if head else name, "")
