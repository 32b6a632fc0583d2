"""Arithmetic that a network doesn't do: which of two numbers or dates of a passage is larger."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from attribution.text.quantities import quantities
from attribution.text.sentences import sentences
from attribution.text.words import terms

BY_DATE = {"older": -1, "younger": 1, "newer": 1}
SIGNS = BY_DATE | dict.fromkeys("more higher larger longer greater".split(), 1)
SIGNS |= dict.fromkeys("less fewer lower smaller shorter".split(), -1)
COMPARISON = re.compile(rf"\b(?P<word>{'|'.join(SIGNS)})\b(?P<between>[^,;:]{{0,60}}?)\bthan\b")
_DEGREE = re.compile(r"\b(?:hardly|slightly|nearly|almost|half|much|far|twice|times)\b")
_BEGUN = re.compile(r"\b(?:born|built|founded|finished|completed|opened|established)\b")
# Ranks, changes, shares and rates are larger for other reasons.
_OTHER = re.compile(
    r"%|\b(?:minus|place|position|number|rank\w*|rose|fell|gr[eo]w|gain\w*|lost|by|per|percent"
    r"|an? (?:hour|day|week|month|year))\b"
)
_CUT = re.compile(r"[,;:.]\s|\b(?:and|while|but|against|whereas|compared|or|with)\b")
LONGEST = 500  # characters of a claim, and of one or two sentences that are looked at
Words = frozenset[str]


def holds(claim: str, passage: str) -> bool | None:
    """Return whether a comparison is true by the two values that a passage gives.

    Args:
        claim: "Anna is older than Tom."
        passage: "Tom was born in 1950 and Anna in 1953."

    Returns:
        None if the claim compares nothing or has a number itself, or the passage doesn't tell.
    """
    match = COMPARISON.search(claim)
    if match is None or len(claim) > LONGEST or quantities(claim) or _DEGREE.search(claim):
        return None
    left = terms(claim[: match.start()] + match["between"]).content
    right = terms(claim[match.end() :]).content
    one, other = left - right, right - left
    is_date = match["word"] in BY_DATE
    if len(one) < 2 - is_date:  # without a word for what is compared
        return None
    parts = [passage[slice(*span)] for span in sentences(passage)]
    found: set[bool] = set()
    for part in (*parts, *map(" ".join, pairwise(parts))):
        is_told = bool(_BEGUN.search(part)) == is_date and not _OTHER.search(part)
        if is_told and len(part) <= LONGEST:
            orders = _orders(one, other, part, is_date)
            found |= {order == SIGNS[match["word"]] for order in orders}
    return found.pop() if len(found) == 1 else None


def _orders(one: Words, other: Words, text: str, is_date: bool) -> Iterator[int]:
    """Yield 1, 0 or -1: how the number or date of one thing compares with that of another.

    A text tells if it has all words of one and two values of a kind, and can be cut between them so
    that one half has words of one and the other half most words of the other.
    """
    values = [value for value in quantities(text) if (value.unit == "date") == is_date]
    if len(values) != 2 or len({value.unit for value in values} - {""}) > 1:
        return
    first, second = [([part or 0 for part in value.date], value.amount) for value in values]
    order = (first > second) - (first < second)
    for cut in _CUT.finditer(text, values[0].span[1], values[1].span[0]):
        left = terms(text[: cut.start()]).content
        right = terms(text[cut.end() :]).content
        for half, rest, sign in ((left, right, order), (right, left, -order)):
            is_there = one & half - rest and one <= half | rest
            if is_there and len(other & rest - half) >= len(other) / 2 > 0:
                yield sign
