"""The names and the negations of a text, with their characters."""

from __future__ import annotations

import re

from attribution.text.values import values
from attribution.text.words import STOP_WORDS, folded
from attribution.types import Span

_WORD = r"[A-Z\u00c0-\u00de][^\W\d_]+(?:['’-][^\W\d_]+)*"
_NAME = re.compile(rf"\b{_WORD}(?:[ -](?:[A-Z]\. )?{_WORD})*+")
_FIRST = re.compile(r"[^\s-]+[\s-]*")
_NEGATION = re.compile(
    r"\b(?:not(?!(?: \w+){0,2} until)|no|never|none|neither|nor|without|nobody|nothing|cannot"
    r"|\w+n['’]t)\b",
    re.IGNORECASE,
)


def names(text: str) -> list[Span]:
    """Return the names of a text in order; no months, units and other words of values."""
    taken = [value.span for value in values(text)]
    found: list[Span] = []
    for match in _NAME.finditer(text):
        start, end = match.span()
        first = _FIRST.match(text, start, end)
        while first and _says_nothing(first[0]):
            start = first.end()
            first = _FIRST.match(text, start, end)
        is_value = any(a < end and start < b for a, b in taken)
        if start < end and not is_value:
            found.append((start, end))
    return found


def _says_nothing(word: str) -> bool:
    word = word.strip(" -")
    return folded(word) in STOP_WORDS or _NEGATION.fullmatch(word) is not None


def negations(text: str) -> list[Span]:
    """Return the characters of each word that denies."""
    return [match.span() for match in _NEGATION.finditer(text)]
