"""Word the cells of a table as statements: "The points of Tarn are 17."

Of seven wordings, the embedded verifiers read this one best against rows and sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

LONGEST = 8  # words of a cell that completes a sentence; a longer one is a text of its own
_THINGS = frozenset(
    "attribute aspect category characteristic criteria criterion detail details description dimension fact factor "
    "feature field info information item key metric notes parameter property spec specification statistic topic "
    "value".split()
)  # heads that say nothing of what is below them
_NUMBERING = frozenset(("", "#", "no", "no.", "nr", "nr.", "rank", "place", "pos", "pos."))
_EMPTY = re.compile(r"[\W_]*|n/?a|none|unknown", re.IGNORECASE)


class Wording(NamedTuple):
    """The words around a cell."""

    before: str
    after: str


def row_head(heads: Sequence[str], cells: Sequence[str]) -> int:
    """Return the column that names the rows: the first that is no numbering."""
    numbering = len(cells) > 2 and cells[0].rstrip(".").isdigit() and bool(heads) and heads[0].casefold() in _NUMBERING
    return int(numbering)


def wording(heads: Sequence[str], cells: Sequence[str], column: int, english: bool) -> Wording | None:
    """Return how the cell of a column is stated with its column's head and its row's; None if it states nothing."""
    first = row_head(heads, cells)
    if _EMPTY.fullmatch(cells[column]) or (column == first and len(cells) > 1):
        return None
    named = [heads[n] if n < len(heads) else "" for n in (first, column)]
    pair = (f"{named[0]}: " if named[0] else "") + f"{cells[first]}; " if column != first else ""
    plain = Wording(pair + (f"{named[1]}: " if named[1] else ""), "")
    thing, quality = cells[first], named[1]
    if named[0].casefold() in _THINGS | {""}:  # the columns are the things, or the table has one that is not named
        thing, quality = quality, thing
    sayable = thing and any(map(str.isalpha, quality)) and not {thing.casefold(), quality.casefold()} & _THINGS
    if not english or not sayable:
        return plain
    if column == first or len(cells[column].split()) > LONGEST or cells[column][-1:] in ".!?:":
        return plain
    many = quality.endswith("s") and not quality.endswith(("ss", "us", "is"))
    return Wording(f"The {_lower(quality)} of {_lower(thing, 'The')} {'are' if many else 'is'} ", ".")


def _lower(text: str, only: str = "") -> str:
    """Return the text with a small first letter, unless it is an abbreviation; `only` if it is this word."""
    first = text.split(" ")[0]
    small = first[1:].islower() and (not only or first == only)
    return text[:1].lower() + text[1:] if small else text
