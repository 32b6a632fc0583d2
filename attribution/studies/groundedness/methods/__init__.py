"""What the methods share: sentences, and their aggregation."""

from __future__ import annotations

from collections.abc import Callable

from attribution.studies.groundedness import ONE, Given, Scored
from attribution.text.sentences import sentences
from attribution.types import Span


def spans(text: str) -> list[Span]:
    """Return the sentences of a text with a letter or a digit; the whole text if none has."""
    found = [(a, b) for a, b in sentences(text) if any(c.isalnum() for c in text[a:b])]
    return found or [(0, len(text))]


def of_context(given: Given) -> list[str]:
    """Return the sentences of all passages, each once."""
    return list(dict.fromkeys(text[a:b] for text in given.context for a, b in spans(text)))


def by_sentence(given: Given, score: Callable[[str], float]) -> Scored:
    """Score each sentence; the least of them is the response's (T24 5.1, 5.2)."""
    return Scored({ONE: min(score(given.response[a:b]) for a, b in spans(given.response))})
