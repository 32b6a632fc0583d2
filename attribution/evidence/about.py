"""Is a passage about what a claim is about? By the claim's names and its other words, for every verifier alike."""

from __future__ import annotations

from attribution.text.values import MONTHS, values
from attribution.text.words import stem, terms

ABOUT = 0.3  # least share of the claim's content words
NAMED = 0.5  # least share of its names; both are measured in docs/measurements.md
_MONTHS = frozenset(map(stem, MONTHS))


def is_about(claim: str, passage: str, title: str = "") -> bool:
    """Does the passage, or its page's title, hold half of the claim's names and three tenths of its words?

    Months do not count: two events of a November have nothing in common.
    """
    wanted = terms(claim)[0] - _MONTHS
    text = f"{title}. {passage}"
    names = _names(claim)
    shared = len(wanted & terms(text)[0])
    return shared >= ABOUT * len(wanted) and sum(_is_named(name, text) for name in names) >= NAMED * len(names)


def _names(text: str) -> set[frozenset[str]]:
    return {value.words for value in values(text) if value.kind == "name"}


def _is_named(name: frozenset[str], text: str) -> bool:
    """Is it there in full or in part, as "Curie" for "Marie Curie"? "Panama Canal" is no part of "Suez Canal"."""
    if len(name) == 1 and {stem(word) for word in name} <= terms(text)[0]:
        return True  # it may be a common word that opens the claim
    return any(other <= name or name <= other for other in _names(text))
