"""The names and the negations of a text, with their characters."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from attribution.text.values import values
from attribution.text.words import STOP_WORDS, folded
from attribution.types import Span

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NEGATION = re.compile(
    r"\b(?:not(?!(?: \w+){0,2} until)|no|never|none|neither|nor|without|nobody|nothing|cannot|\w+n['’]t)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r" (?:[A-Z]\. )?|-")


@dataclass(frozen=True)
class Name:
    """Words with capitals, side by side; `normal` is in lower case, without possessive endings."""

    start: int
    end: int
    normal: str

    @property
    def span(self) -> Span:
        return self.start, self.end

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.normal.split())


@lru_cache(maxsize=1024)
def names(text: str) -> tuple[Name, ...]:
    """Return the names of a text in order; no months, units and other words of values."""
    taken = iter([*(value.span for value in values(text)), (len(text), len(text))])
    first, last = next(taken)
    found: list[Name] = []
    words: list[str] = []  # of the last name, joined once
    for token in _WORD.finditer(text):
        while last <= token.start() and last < len(text):
            first, last = next(taken)
        word = folded(token[0])
        if first < token.end() and token.start() < last:
            continue
        if (
            not token[0][0].isupper()
            or len(token[0]) == 1
            or word in STOP_WORDS
            or _NEGATION.fullmatch(word)
        ):
            continue
        if found and _JOINED.fullmatch(text, found[-1].end, token.start()):
            words.append(word)
            found[-1] = replace(found[-1], end=token.end())
        else:
            _close(found, words)
            found.append(Name(token.start(), token.end(), word))
            words = [word]
    _close(found, words)
    return tuple(found)


def _close(found: list[Name], words: list[str]) -> None:
    if found and len(words) > 1:
        found[-1] = replace(found[-1], normal=" ".join(words))


@lru_cache(maxsize=1024)
def negations(text: str) -> tuple[Span, ...]:
    """Return the characters of each word that denies."""
    return tuple(found.span() for found in _NEGATION.finditer(text))
