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


_YES, _NO = frozenset("✅ ✔ ✔️ ✓ ☑ ☑️ yes Yes".split()), frozenset("❌ ✗ ✘ ✖ ✖️ no No".split())
_CODES = re.compile(
    r"\b(?:code|symbol|abbreviation|abbr\.?|iso)\b", re.IGNORECASE
)  # "No" is nobelium
_DATED = frozenset(
    "founded opened built born died published released established created launched completed discovered invented "
    "introduced formed closed started ended debuted premiered arrived retired begun written finished demolished "
    "dissolved elected inaugurated patented recorded signed constructed erected adopted".split()
)  # heads below which a bare figure is a year
_BEING = re.compile(
    r"(?:is|are) (.+)|((?:\S+ )?\S{2,}(?:(?<!e)ed(?: (?:by|for|in|with|to|on) .+)?"
    r"|[^t]able|ible|proof)|(?:available|free|open|safe|suitable)\b.*)",
    re.IGNORECASE,
)
_HAVING = re.compile(r"(?:(?:has|have|includes?|offers?) )?(?:an? )?(.+)", re.IGNORECASE)
_PARTICIPLE = re.compile(
    r"(?:[a-z]{2,}(?<!e)ed|built|born|begun|won|sold|made|held|written|cut|lost)( (?:by|in|on|at|from|to|for|as))?",
    re.IGNORECASE,
)
_ACTIVE = frozenset(
    "opened closed died started ended ceased debuted premiered arrived retired".split()
)
_UNSAID = re.compile(
    r"(?:has|have|is|are|was|can|does|when|where|who|what|why|which|how|no|not|without"
    r"|requires|supports|works|needs|allows|uses|runs)\b.*"
    r"|.* (?:by|in|on|at|from|to|of|for|since|with|against|until|as)|.*[:;,].*"
)
_MONTH = "(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*\\.?"
_SPAN = re.compile(rf"(?:{_MONTH} )?(?:c\. ?)?\d{{4}}(?: (?:BC|BCE|AD|CE))?")
_DAY = re.compile(rf"\d{{1,2}} {_MONTH} \d{{4}}|{_MONTH} \d{{1,2}}, \d{{4}}|\d{{4}}-\d\d-\d\d")


class Wording(NamedTuple):
    """The words around a cell, or, without `cell`, in its place."""

    before: str
    after: str
    cell: bool = True


def row_head(heads: Sequence[str], cells: Sequence[str]) -> int:
    """Return the column that names the rows: the first that is no numbering."""
    numbering = (
        len(cells) > 2
        and cells[0].rstrip(".").isdigit()
        and bool(heads)
        and heads[0].casefold() in _NUMBERING
    )
    return int(numbering)


def wording(
    heads: Sequence[str], cells: Sequence[str], column: int, english: bool
) -> Wording | None:
    """Return how the cell of a column is stated with its column's head and its row's; None if it
    states nothing.
    """
    first = row_head(heads, cells)
    answer = cells[column]
    decided = answer in _YES | _NO and not (column < len(heads) and _CODES.search(heads[column]))
    if not decided and _EMPTY.fullmatch(cells[column]) or (column == first and len(cells) > 1):
        return None
    named = [heads[n] if n < len(heads) else "" for n in (first, column)]
    pair = (f"{named[0]}: " if named[0] else "") + f"{cells[first]}; " if column != first else ""
    plain = Wording(pair + (f"{named[1]}: " if named[1] else ""), "")
    thing, quality = cells[first], named[1]
    if named[0].casefold() in _THINGS | {
        ""
    }:  # the columns are the things, or the table has one that is not named
        thing, quality = quality, thing
    sayable = (
        thing
        and any(map(str.isalpha, quality))
        and not {thing.casefold(), quality.casefold()} & _THINGS
    )
    sayable = sayable and english and column != first
    subject = thing[:1].upper() + thing[1:]
    if decided:
        return Wording(
            _decided(subject, quality, answer in _YES)
            if sayable
            else f"{plain.before}{answer.lower()}",
            "",
            False,
        )
    if not sayable or len(cells[column].split()) > LONGEST or cells[column][-1:] in ".!?:":
        return plain
    if participle := _PARTICIPLE.fullmatch(quality):
        when = (
            "in"
            if _SPAN.fullmatch(cells[column])
            else "on"
            if _DAY.fullmatch(cells[column])
            else ""
        )
        link = (
            "" if quality.casefold() in _ACTIVE or quality.casefold().startswith("won") else "was "
        )
        bare = cells[column].isdigit() and quality.casefold() not in _DATED  # "Sold: 1836" counts
        if bare and not participle[1] or not (participle[1] or when):
            return plain
        return Wording(
            f"{subject} {link}{quality.casefold()} {'' if participle[1] else when + ' '}", "."
        )
    if _UNSAID.fullmatch(quality.casefold()):
        return plain
    many = quality.endswith("s") and not quality.endswith(("ss", "us", "is"))
    return Wording(
        f"The {_lower(quality)} of {_lower(thing, 'The')} {'are' if many else 'is'} ", "."
    )


def _decided(subject: str, quality: str, yes: bool) -> str:
    """Return what a cell with a tick or a cross says: "Plan A has dark mode.", "Plan A is not
    heated.".
    """
    quality = quality.rstrip("?: ")
    if being := _BEING.fullmatch(quality):
        return f"{subject} is {'' if yes else 'not '}{_lower(being[1] or being[2])}."
    if (having := _HAVING.fullmatch(quality)) and not _UNSAID.fullmatch(
        quality.casefold().removeprefix("has ")
    ):
        return f"{subject} has {'' if yes else 'no '}{_lower(having[1])}."
    return f"{subject}: {_lower(quality)}: {'yes' if yes else 'no'}"


def _lower(text: str, only: str = "") -> str:
    """Return the text with a small first letter, unless it is an abbreviation; `only` if it is this
    word.
    """
    first = text.split(" ")[0]
    small = first[1:].islower() and (not only or first == only)
    return text[:1].lower() + text[1:] if small else text
