"""What is boxed on a card: values and names in which a claim and a sentence differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from attribution.text.quantities import agrees, computed, fill_same_slot, shared_around
from attribution.text.values import Value, values
from attribution.text.words import STOP_WORDS, folded, words_of
from attribution.types import Span

Item = TypeVar("Item", Value, Span)
KINDS = {"quantity": "Number", "date": "Date"}  # as cards call them
_WORD = r"[A-Z\u00c0-\u00de][^\W\d_]+(?:['’-][^\W\d_]+)*"
_NAME = re.compile(rf"\b{_WORD}(?:[ -](?:[A-Z]\. )?{_WORD})*+")
_WORD_OF_NAME = re.compile(r"[^\s-]+[\s-]*")
MOST = 2  # of a kind that may differ; where more do, the texts are about different things


@dataclass(frozen=True)
class Contrast:
    """A value or name of a claim and the source's in its place."""

    kind: str  # a word of KINDS, or Name
    claim: str
    source: str
    claim_span: Span
    source_span: Span


def contrasts(claim: str, sentence: str) -> list[Contrast]:
    """Return the values and names that fill the same slot of both texts and differ."""
    claim_values, source_values = values(claim), values(sentence)
    unmet = [v for v in claim_values if not _is_met(v, source_values, sentence)]
    free = [v for v in source_values if not any(agrees(value, v) for value in claim_values)]

    def is_rival(value: Value, rival: Value) -> bool:
        return fill_same_slot(claim, value, sentence, rival)

    found: list[Contrast] = []
    for kind, label in KINDS.items():
        own = [value for value in unmet if value.kind == kind]
        rivals = [value for value in free if value.kind == kind]
        for value, rival in _pairs(own, rivals, is_rival):
            found.append(_contrast(label, claim, value.span, sentence, rival.span))

    def stand_alike(name: Span, rival: Span) -> bool:
        return bool(shared_around(claim, name, sentence, rival))

    claim_names, source_names = _unnamed(claim, sentence), _unnamed(sentence, claim)
    for name, other in _pairs(claim_names, source_names, stand_alike):
        found.append(_contrast("Name", claim, name, sentence, other))
    return found


def differing_spans(claim: str, sentence: str) -> tuple[list[Span], list[Span]]:
    """Return the spans of a claim, and of a sentence, whose values and names differ."""
    found = contrasts(claim, sentence)
    return sorted(c.claim_span for c in found), sorted(c.source_span for c in found)


def _contrast(kind: str, claim: str, span: Span, sentence: str, other: Span) -> Contrast:
    return Contrast(kind, claim[slice(*span)], sentence[slice(*other)], span, other)


def _is_met(value: Value, sources: Sequence[Value], text: str) -> bool:
    return any(agrees(value, source) for source in sources) or bool(computed(value, sources, text))


def _unnamed(text: str, other: str) -> list[Span]:
    """Return the names of a text that share no word with the other text."""
    words = set(words_of(other))
    return [span for span in names(text) if not words & set(words_of(text[slice(*span)]))]


def _pairs(
    items: Sequence[Item], rivals: Sequence[Item], is_rival: Callable[[Item, Item], bool]
) -> Iterator[tuple[Item, Item]]:
    """Pair each item with the first rival in its slot that is left."""
    if len(items) > MOST or len(rivals) > MOST:
        return
    left = list(rivals)
    for item in items:
        rival = next((rival for rival in left if is_rival(item, rival)), None)
        if rival is not None:
            left.remove(rival)
            yield item, rival


def names(text: str) -> list[Span]:
    """Return the names of a text in order; no months, units and other words of values."""
    taken = [value.span for value in values(text)]
    found: list[Span] = []
    for match in _NAME.finditer(text):
        start, end = match.span()
        for word in _WORD_OF_NAME.finditer(text, start, end):
            if folded(word[0].strip(" -")) not in STOP_WORDS:
                break
            start = word.end()
        is_value = any(a < end and start < b for a, b in taken)
        if start < end and not is_value:
            found.append((start, end))
    return found
