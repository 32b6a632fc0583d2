"""Compare a claim with the rows of a table by its words: which row, which column, and what the cell
says.

A row is read as a line, "Auhof: Manager Jan Tomek; Wheat 2022 (t) 402; Wheat 2023 (t) 371", and the
neural verifiers
take a neighbouring cell, or the same cell of another row, for the one that is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from os.path import commonprefix

from attribution.text.differences import MEASURES
from attribution.text.value_reading import values
from attribution.text.values import Value, compare
from attribution.text.words import beginnings, occurrences, terms, words_of
from attribution.types import Relation, Span, quoted

_ROW = re.compile(r"([^:;\n]{1,80}): ([^;\n]+(?:; [^;\n]+)*)")
_ROUTE = re.compile(r"([^–—→]{2,40}?)\s*[–—→]\s*([^–—→]{2,40})")  # "Osen–Vik": from Osen to Vik
_SCALE = re.compile(r"illion|thousand|hundred")
_NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
_SHORT_SCALE = r"(?:[kKMB]|[kKmMbB]n|tn|(?i:mio|mrd|mill?|tsd|lakh|cr))\b"
# of a cell that has nothing else but a unit
_FIGURE = re.compile(
    rf"[$€£]?\s?({_NUMBER.pattern})(?:\s?(?:%|[$€£°]\w?|(?!{_SHORT_SCALE})[^\W\d_]{{1,4}}[²³]?(?:/\w+)?))?"
)
_UNIT = re.compile(r"[^\W\d_]+[²³]?|[%€$£]")
_UNITS = re.compile(r" \([^()]*\)$")
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
_MOST = re.compile(
    r"\b(?:most|highest|largest|biggest|greatest|longest|warmest|busiest|tallest)\b", re.IGNORECASE
)
_LEAST = re.compile(
    r"\b(?:fewest|least|lowest|smallest|shortest|coldest|quietest)\b", re.IGNORECASE
)
_MORE = re.compile(
    r"\b(?:more|higher|larger|greater|longer)\b.*\bthan\b|\b(?:rose|grew|increased|went up)\b",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"\b(?:fewer|less|lower|smaller|shorter)\b.*\bthan\b|\b(?:fell|dropped|declined|decreased|went down)\b",
    re.IGNORECASE,
)
_GRADE = re.compile(r"(?:est|er)$")
_FIRST = re.compile(r"\b(?:oldest|earliest|first)\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?:newest|youngest|latest|last)\b", re.IGNORECASE)
_BEGUN = re.compile(
    r"\b(?:opened|built|founded|started|established|year|since|opening)\b", re.IGNORECASE
)
_FROM_TO = re.compile(
    r"\bfrom\b.*\bto\b|\b(?:rose|grew|increased|went up|fell|dropped|declined|decreased|went down)\b"
)


@dataclass(frozen=True)
class TableRow:
    span: Span
    label: str
    cells: Mapping[str, str] = field(hash=False)

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield what may name the row: its label, and its cells without figures; with their column."""
        yield "", _UNITS.sub("", self.label)
        if route := _ROUTE.fullmatch(self.label):
            yield from (("", f"{route[1]} {joint} {route[2]}") for joint in ("to", "and"))
        yield from (
            (key, cell) for key, cell in self.cells.items() if not any(map(str.isdigit, cell))
        )

    def number(self, key: str) -> float | None:
        found = _NUMBER.fullmatch(self.cells.get(key, "").strip())
        return float(found[0].replace(",", "")) if found else None


@dataclass(frozen=True)
class RowRelation:
    """The relation of a row to a claim, in words where it contradicts it or is about another thing."""

    relation: Relation
    row: TableRow
    words: str = ""


@lru_cache(maxsize=64)
def tables(text: str) -> tuple[tuple[TableRow, ...], ...]:
    """The tables of a text: lines that follow each other and have as many cells, or one that begins
    alike.
    """
    lines = [(found.span(), found[1], found[2].split("; ")) for found in _ROW.finditer(text)]
    found = []
    for _, lines_ in groupby(
        lines, key=lambda line: len(line[2]) if line[2][1:] else line[2][0].partition(" ")[0]
    ):
        rows = list(lines_)
        if len(rows) < 2:
            continue
        columns = list(zip(*(cells for *_, cells in rows), strict=True))
        keys = [commonprefix(cells)[: commonprefix(cells).rfind(" ") + 1] for cells in columns]
        found.append(
            tuple(
                TableRow(
                    span,
                    label,
                    {
                        _plain(key): cell[len(key) :]
                        for key, cell in zip(keys, cells, strict=True)
                        if key
                    },
                )
                for span, label, cells in rows
            )
        )
    return tuple(found)


def row_at(text: str, place: int) -> TableRow | None:
    """Return the row of a table that has this character of a text."""
    return next(
        (row for rows in tables(text) for row in rows if row.span[0] <= place < row.span[1]), None
    )


def _plain(key: str) -> str:
    return key.replace("_", " ").strip()


@lru_cache(maxsize=1024)
def in_table(claim: str, text: str) -> RowRelation | None:
    """Return what the table of a text says of a claim that names one of its rows; None where it
    says nothing.
    """
    return next(filter(None, (_in_rows(claim, rows) for rows in tables(text))), None)


def _in_rows(claim: str, rows: Sequence[TableRow]) -> RowRelation | None:
    low = f" {' '.join(words_of(claim))} "
    found = [
        (low.index(words), words, row, key, name)
        for row in rows
        for key, name in row.names()
        if (words := f" {' '.join(words_of(name))} ").strip()
        and words in low
        and (len(name) > 2 or name in claim)
    ]
    named = [
        (at, row, key, name)
        for at, words, row, key, name in found
        if not any(
            a <= at < at + len(words) <= a + len(w) and len(w) > len(words) for a, w, *_ in found
        )
    ]  # "Upper Tolm" is not "Tolm"
    places = {row.span: row for _, row, *_ in sorted(named, key=lambda n: n[0])}
    columns = _columns(claim, rows)
    if len(places) == 2:
        return _of_two(claim, [*places.values()], named, columns)
    if len(places) != 1:
        return None
    (row,) = places.values()
    return _compared(claim, row, rows, columns) or _stated(claim, row, columns)


def _columns(claim: str, rows: Sequence[TableRow]) -> list[str]:
    """The columns that share most words with a claim, without those of another year; empty for a
    column without one.
    """
    years, wanted = set(_YEAR.findall(claim)), terms(claim)[0]
    low = f" {' '.join(words_of(claim))} "
    measured = {
        MEASURES[base] for word in words_of(claim) if (base := _GRADE.sub("", word)) in MEASURES
    }
    if "above" in measured:
        measured.add(MEASURES["high"])
    begun = bool(_FIRST.search(claim) or _LAST.search(claim))
    scores: dict[str, int] = {}
    for key in rows[0].cells:
        if not all(any(map(str.isdigit, row.cells[key])) for row in rows):
            continue
        own = set(_YEAR.findall(key))
        shared = len(wanted & terms(f"of {key}")[0])
        shared += 2 * (f" {' '.join(words_of(key))} " in low)
        shared = shared or len(measured & {MEASURES.get(word) for word in words_of(key)})
        shared = shared or int(begun and bool(_BEGUN.search(key)))
        if shared and not (own and years and not own & years):
            scores[key] = shared + len(own & years)
    best = max(scores.values(), default=0)
    return [key for key, score in scores.items() if score == best]


def _of_two(
    claim: str,
    both: Sequence[TableRow],
    named: Sequence[tuple[int, TableRow, str, str]],
    columns: Sequence[str],
) -> RowRelation | None:
    """Return what two rows say of a claim that compares them, or gives a name of the one to the
    other.
    """
    first, second = both
    own, others = ({key: name for _, row, key, name in named if row == r} for r in both)
    if not own.keys() & others.keys():
        for row, of_other in ((first, others), (second, own)):
            for key, name in of_other.items():
                if key and (right := row.cells.get(key)):
                    return RowRelation("contradicted", row, _differs(name, right))
    if len(columns) == 1 and own.keys() & others.keys():
        return _ordered(claim, first, first.number(columns[0]), second.number(columns[0]))
    return None


def _compared(
    claim: str, row: TableRow, rows: Sequence[TableRow], columns: Sequence[str]
) -> RowRelation | None:
    """Return what a row says of a claim that it is the first or last of all, or changed between two
    years.
    """
    years = list(dict.fromkeys(_YEAR.findall(claim)))
    if len(years) == 2 and len(columns) == 2:
        by_year = {year: key for key in columns for year in years if year in key}
        if len(by_year) == 2:
            one, two = (row.number(by_year[year]) for year in years)
            return (
                _ordered(claim, row, two, one)
                if _FROM_TO.search(claim)
                else _ordered(claim, row, one, two)
            )
    pick = max if _MOST.search(claim) else min if _LEAST.search(claim) else None
    if pick is None and len(columns) == 1 and _BEGUN.search(columns[0]):
        pick = min if _FIRST.search(claim) else max if _LAST.search(claim) else None
    if pick and len(columns) == 1 and all(r.number(columns[0]) is not None for r in rows):
        best = pick(rows, key=lambda r: r.number(columns[0]) or 0.0)
        if best.number(columns[0]) != row.number(columns[0]):
            mine, its = row.cells[columns[0]], best.cells[columns[0]]
            return RowRelation(
                "contradicted",
                row,
                f"the source has {quoted(mine)} there, and {quoted(its)} for {best.label}",
            )
    return None


def _ordered(claim: str, row: TableRow, one: float | None, two: float | None) -> RowRelation | None:
    more = 1 if _MORE.search(claim) else -1 if _LESS.search(claim) else 0
    if not more or one is None or two is None or one == two or (one > two) == (more > 0):
        return None
    return RowRelation("contradicted", row, f"the source has {one:,g} and {two:,g}")


def _stated(claim: str, row: TableRow, columns: Sequence[str]) -> RowRelation | None:
    """Return what the cell that a claim speaks of says of its number."""
    label = [*occurrences(row.label.lower(), claim.lower())]  # "Response at week 12"
    exact = [v for v in values(claim) if v.kind in ("quantity", "time") and v.is_exact]
    numbers = [v for v in exact if not any(first <= v.start < last for first, last in label)]
    if len(numbers) != 1 or len(columns) != 1:
        return None
    if numbers[0].kind == "time":
        agreement = next(
            (compare(numbers[0], v) for v in values(row.cells[columns[0]])), "not comparable"
        )
        words = _differs(claim[slice(*numbers[0].span)], row.cells[columns[0]])
        return RowRelation("contradicted", row, words) if agreement == "different" else None
    written = claim[slice(*numbers[0].span)]
    figure, its = _NUMBER.search(written), row.cells[columns[0]].strip()
    found = _FIGURE.fullmatch(its)
    if figure is None or found is None or _SCALE.search(written):
        return None
    cell = float(found[1].replace(",", ""))
    same = float(figure[0].replace(",", "")) == cell
    if (per := next((v.per for v in values(f"{cell:g} {columns[0]}")), "")) and numbers[
        0
    ].per not in ("", per):
        return RowRelation(
            "contradicted", row, _differs(f"{written} a {numbers[0].per}", f"{its} a {per}")
        )
    if numbers[0].dimension and (
        measured := _measured(its, f"{' '.join(_UNITS.findall(row.label))} {columns[0]}")
    ):
        agreement = compare(numbers[0], measured[0])
        if agreement not in ("equal", "different"):
            return None
        same, its = agreement == "equal", measured[1]
    elif numbers[0].dimension in ("[time]", "%") and not same:
        return None  # a column of patients says nothing of "48 minutes"
    if not same and _is_of_other_column(claim, row, columns[0], figure[0]):
        return None
    return (
        RowRelation("entailed", row)
        if same
        else RowRelation("contradicted", row, _differs(written, its))
    )


def _is_of_other_column(claim: str, row: TableRow, column: str, figure: str) -> bool:
    """Return True if another cell has the number, and its head a word of the claim in another form:
    "withdrew".
    """
    begun = beginnings(words_of(claim)) - beginnings(words_of(column))
    heads = (key for key, cell in row.cells.items() if key != column and cell.strip() == figure)
    return any(begun & beginnings(words_of(key)) for key in heads)


def _measured(cell: str, key: str) -> tuple[Value, str] | None:
    """Return the number of a cell with its unit, or the one that the head of its column names:
    "rain (mm)".
    """
    for written in (cell, *(f"{cell} {unit}" for unit in _UNIT.findall(key))):
        found = values(written)
        if len(found) == 1 and found[0].dimension:
            return found[0], written
    return None


def _differs(mine: str, its: str) -> str:
    return f"the claim says {quoted(mine)}, the source {quoted(its)}"
