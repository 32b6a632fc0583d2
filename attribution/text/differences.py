"""What is boxed on a card: values, names and negations in which a claim and a sentence differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from attribution.text.names import Name, names, negations
from attribution.text.quantities import agrees, computed, fill_same_slot, shared_around
from attribution.text.values import Value, values
from attribution.text.words import STOP_WORDS, stem, words_of
from attribution.types import Span

KINDS = {"quantity": "Number", "date": "Date", "time": "Time"}  # as cards call them
MOST_VALUES = 2  # of a kind that may differ; where more do, the texts are about different things
DENIED = 8  # words after a negation that it may deny

Item = Value | Name


@dataclass(frozen=True)
class Contrast:
    """A value of a claim and the source's in its place; one of them is empty for a negation."""

    kind: str  # a word of KINDS, Name or Negation
    claim: str
    source: str
    claim_span: Span | None = None
    source_span: Span | None = None


@lru_cache(maxsize=1024)
def contrasts(claim: str, sentence: str) -> tuple[Contrast, ...]:
    """Return the values, names and negations that fill the same slot of both texts and differ."""
    pairs: list[tuple[Item, Item]] = []
    claim_values, source_values = _unmet(claim, sentence)
    for kind in KINDS:
        items = [value for value in claim_values if value.kind == kind]
        rivals = [value for value in source_values if value.kind == kind]
        pairs += _pairs(claim, items, sentence, rivals)
    pairs += _pairs(claim, _unnamed(claim, sentence), sentence, _unnamed(sentence, claim))
    rows: list[Contrast] = []
    for item, rival in pairs:
        kind = KINDS[item.kind] if isinstance(item, Value) else "Name"
        written, source = claim[slice(*item.span)], sentence[slice(*rival.span)]
        rows.append(Contrast(kind, written, source, item.span, rival.span))
    return (*rows, *_negations(claim, sentence))


def differing_spans(claim: str, sentence: str) -> tuple[list[Span], list[Span]]:
    """Return the spans of a claim, and of a sentence, whose values and names differ."""
    claim_spans: list[Span] = []
    source_spans: list[Span] = []
    for contrast in contrasts(claim, sentence):
        if contrast.claim_span and contrast.source_span:
            claim_spans.append(contrast.claim_span)
            source_spans.append(contrast.source_span)
    return sorted(claim_spans), sorted(source_spans)


def _unmet(claim: str, sentence: str) -> tuple[list[Value], list[Value]]:
    """Return the values of each text with which no value of the other agrees."""
    claim_values, source_values = list(values(claim)), list(values(sentence))
    met: set[Value] = set()
    for value in claim_values:
        agreeing = [rival for rival in source_values if agrees(value, rival)]
        if agreeing or computed(value, source_values, sentence):
            met.update(agreeing, [value])
    return (
        [value for value in claim_values if value not in met],
        [value for value in source_values if value not in met],
    )


def _unnamed(text: str, other: str) -> list[Name]:
    """Return the names of a text that share no word with the other text."""
    words = set(words_of(other))
    return [name for name in names(text) if not name.words & words]


def _pairs(
    claim: str, items: Sequence[Item], sentence: str, rivals: Sequence[Item]
) -> Iterator[tuple[Item, Item]]:
    """Pair each item with the rival in its slot that has most words around it in common."""
    if len(items) > MOST_VALUES or len(rivals) > MOST_VALUES:
        return
    left = list(rivals)
    for item in items:
        fitting = [rival for rival in left if _is_in_slot(claim, item, sentence, rival)]
        if not fitting:
            continue
        shared = {r: len(shared_around(claim, item.span, sentence, r.span)) for r in fitting}
        nearest = max(fitting, key=shared.__getitem__)
        left.remove(nearest)
        yield item, nearest


def _is_in_slot(claim: str, item: Item, sentence: str, rival: Item) -> bool:
    if isinstance(item, Value) and isinstance(rival, Value):
        return fill_same_slot(claim, item, sentence, rival)
    return bool(shared_around(claim, item.span, sentence, rival.span))


def _negations(claim: str, sentence: str) -> Iterator[Contrast]:
    """Yield the negation of one text, if the other says without one what it denies.

    A claim's negation denies its next word, a source's one of the words after it.
    """
    in_claim, in_source = negations(claim), negations(sentence)
    if in_claim and not in_source:
        span = in_claim[0]
        if _denied(claim, span)[:1] and _denied(claim, span)[0] in _stems(sentence):
            yield Contrast("Negation", claim[slice(*span)], "", span)
    elif in_source and not in_claim:
        span = in_source[0]
        if set(_denied(sentence, span)) & _stems(claim):
            yield Contrast("Negation", "", sentence[slice(*span)], source_span=span)


def _denied(text: str, span: Span) -> list[str]:
    """Return the stems of the content words after a negation."""
    after = words_of(text[span[1] :])[:DENIED]
    return [stem(word) for word in after if word not in STOP_WORDS]


def _stems(text: str) -> set[str]:
    return {stem(word) for word in words_of(text)}
