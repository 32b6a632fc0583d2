"""Quantities of a claim that a passage gives differently, and those that follow by arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from attribution.text.differences import fill_same_slot
from attribution.text.value_reading import values
from attribution.text.values import Value, compare, is_other_limit

AGREE = ("equal", "compatible")
CLOSE = 0.02  # relative error of a computed value that counts as the same
MOST_TERMS = 12  # values of a passage that sums and differences are made of


class Conflict(NamedTuple):
    """A quantity of a claim, and the source's in its place, as each is written."""

    claim: str
    source: str


def conflict(claim: str, passage: str, sentence: str) -> Conflict | None:
    """Return a quantity, date or share that the passage's nearest sentence gives differently.

    None if each one stands somewhere in the passage, or follows from its values by arithmetic.
    """
    wanted = values(claim)
    if not wanted:
        return None
    everywhere, nearest = values(passage), values(sentence)
    for value in wanted:
        if any(agrees(value, other) for other in everywhere):
            continue
        if computed(value, everywhere, passage):
            continue
        for rival in nearest:
            if is_other_limit(value, rival) or fill_same_slot(claim, value, sentence, rival):
                return Conflict(claim[slice(*value.span)], sentence[slice(*rival.span)])
    return None


def agrees(value: Value, source: Value) -> bool:
    """Return True if both can be true of one thing."""
    return compare(value, source) in AGREE and not is_other_limit(value, source)


def computed(value: Value, sources: Sequence[Value], text: str) -> str:
    """Return how a claim's quantity follows from a passage's values, "34 − 19 = 15", or ""."""
    if value.kind != "quantity":
        return ""
    terms = [v for v in sources if v.kind in ("quantity", "date") and v.low == v.high]
    for made, words in _results(terms[:MOST_TERMS], text):
        if value.low - abs(value.low) * CLOSE <= made <= value.high + abs(value.high) * CLOSE:
            return f"{words} = {made:g}"
    return ""


def _results(terms: Sequence[Value], text: str) -> Iterator[tuple[float, str]]:
    written = {term: text[slice(*term.span)] for term in terms}
    for one, two in combinations(terms, 2):
        if one.dimension != two.dimension:
            continue
        larger, smaller = (one, two) if one.low >= two.low else (two, one)
        yield larger.low - smaller.low, f"{written[larger]} − {written[smaller]}"
        yield one.low + two.low, f"{written[one]} + {written[two]}"
        if smaller.low > 0:
            share = 100 * smaller.low / larger.low
            yield share, f"{written[smaller]} of {written[larger]}"
            growth = 100 * (larger.low - smaller.low) / smaller.low
            yield growth, f"growth from {written[smaller]} to {written[larger]}"
            yield larger.low / smaller.low, f"{written[larger]} ÷ {written[smaller]}"
    yield sum(term.low for term in terms), " + ".join(written.values())
