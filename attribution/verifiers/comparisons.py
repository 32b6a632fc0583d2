"""Arithmetic that a network doesn't do: which of two numbers or dates of a passage is larger."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from attribution.text.quantities import quantities
from attribution.text.sentences import sentences
from attribution.text.words import terms

_MORE = "more greater higher larger bigger longer taller heavier deeper wider faster warmer older"
_LESS = "less fewer lower smaller shorter lighter shallower narrower slower colder cheaper younger"
BY_NUMBER = dict.fromkeys(_MORE.split(), 1) | dict.fromkeys(_LESS.split(), -1)
BY_DATE = {"older": -1, "earlier": -1, "sooner": -1, "younger": 1, "newer": 1, "later": 1}
COMPARISON = re.compile(
    rf"\b(?P<word>{'|'.join(BY_NUMBER | BY_DATE)})\b(?P<between>[^,;:]*?)\bthan\b", re.IGNORECASE
)
LONGEST = 500  # characters of one or two sentences that are looked at
Words = frozenset[str]
_CUT = re.compile(r"[,;:.]\s|\b(?:and|while|but|against|whereas|compared|or|with)\b")


def holds(claim: str, passage: str) -> bool | None:
    """Return whether a comparison is true by the two values that a passage gives.

    Args:
        claim: "Anna is older than Tom."
        passage: "Tom was born in 1950 and Anna in 1953."

    Returns:
        None if the claim compares nothing or has a number itself, or the passage doesn't tell.
    """
    match = COMPARISON.search(claim)
    if match is None or quantities(claim):
        return None
    one = terms(claim[: match.start()] + match["between"]).content
    other = terms(claim[match.end() :]).content
    parts = [passage[slice(*span)] for span in sentences(passage)]
    parts += [" ".join(pair) for pair in pairwise(parts)]
    word = match["word"].lower()
    expected = {True: BY_DATE.get(word), False: BY_NUMBER.get(word)}
    found: set[bool] = set()
    for part in [part for part in parts if len(part) <= LONGEST]:
        for is_date, order in _orders(one - other, other - one, part):
            if expected[is_date]:
                found.add(order == expected[is_date])
    return found.pop() if len(found) == 1 else None


def _orders(one: Words, other: Words, text: str) -> Iterator[tuple[bool, int]]:
    """Yield whether two values are dates, and 1, 0 or -1: how that of one compares with another's.

    A text tells if it has two values of a kind and can be cut between them, so that one half has
    words of one and the other half most words of the other; and most words of one are there.
    """
    found = quantities(text)
    for is_date in (True, False):
        values = [value for value in found if (value.unit == "date") == is_date]
        if len(values) != 2 or len({value.unit for value in values} - {""}) > 1:
            continue
        first, second = [([part or 0 for part in v.date], v.amount) for v in values]
        order = (first > second) - (first < second)
        for cut in _CUT.finditer(text, values[0].span[1], values[1].span[0]):
            left = terms(text[: cut.start()]).content
            right = terms(text[cut.end() :]).content
            for half, rest, sign in ((left, right, order), (right, left, -order)):
                is_there = one & half - rest and len(one - half - rest) <= len(one) / 2
                if is_there and len(other & rest - half) >= len(other) / 2 > 0:
                    yield is_date, sign
