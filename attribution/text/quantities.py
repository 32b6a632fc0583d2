"""Compare the values of a claim with those of a passage: which differ, which follow by arithmetic.

Two values differ if they are of one dimension and their intervals are apart, or if the claim
gives a limit that the source doesn't bear out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from attribution.text.values import Kind, Value, values
from attribution.text.words import Terms, terms
from attribution.types import Span

Agreement = Literal["equal", "compatible", "different", "not comparable"]
AGREE = ("equal", "compatible")
LIMITS = ("at_least", "at_most", "more", "less")
ROUGH = ("about", "nearly", "barely")
CONVERTED = 0.03  # relative error of a number converted from another unit
CLOSE = 0.02  # relative error of a computed value that counts as the same
MOST_TERMS = 12  # values of a passage that sums and differences are made of
NEAR = 50  # characters on either side of a value that say what it is about


@dataclass(frozen=True)
class Contrast:
    """A value of a claim and the source's in its place, as each is written."""

    kind: Kind
    claim: str
    source: str
    claim_span: Span
    source_span: Span


def contrasts(claim: str, sentence: str, passage: str = "") -> list[Contrast]:
    """Return the quantities, dates and shares of a claim that a sentence gives differently.

    A value that stands somewhere in the passage, or follows from its values by arithmetic, is none.

    Args:
        claim: The claim.
        sentence: The passage's nearest sentence.
        passage: The passage; empty: the sentence alone.
    """
    claim_values = values(claim)
    passage = passage or sentence
    everywhere = values(passage)
    rivals = [r for r in values(sentence) if not any(agrees(value, r) for value in claim_values)]
    found: list[Contrast] = []
    for value in claim_values:
        is_stated = any(agrees(value, other) for other in everywhere)
        if is_stated or computed(value, everywhere, passage):
            continue
        for rival in rivals:
            if is_other_limit(value, rival) or fill_same_slot(claim, value, sentence, rival):
                words, source_words = claim[slice(*value.span)], sentence[slice(*rival.span)]
                found.append(Contrast(value.kind, words, source_words, value.span, rival.span))
                rivals.remove(rival)
                break
    return found


def differing_spans(claim: str, sentence: str) -> tuple[list[Span], list[Span]]:
    """Return the spans of a claim, and of a sentence, whose values differ."""
    found = contrasts(claim, sentence)
    return [c.claim_span for c in found], sorted(c.source_span for c in found)


def agrees(value: Value, source: Value) -> bool:
    """Return True if both can be true of one thing."""
    return compare(value, source) in AGREE and not is_other_limit(value, source)


# --- two values ---


def compare(claim: Value, source: Value) -> Agreement:
    """Return how the value of a claim stands to that of a source.

    `equal` holds for a claim that the source's value implies, `compatible` where both can be true.
    """
    if claim.kind != source.kind:
        return "not comparable"
    if claim.kind == "date":
        return _compare_dates(claim, source)
    return _compare_quantities(claim, source)


def is_other_limit(claim: Value, source: Value) -> bool:
    """Return True for a limit that doesn't follow from the source's: "over 50" and "over 40"."""
    if claim.comparator not in LIMITS or source.comparator not in LIMITS:
        return False
    return compare(claim, source) == "compatible"


def _intervals(claim: Value, source: Value, slack: float = 0.0) -> Agreement:
    """Compare two intervals of one dimension; `slack` is a share of the greater value."""
    bounds = (claim.low, claim.high, source.low, source.high)
    room = slack * max((abs(bound) for bound in bounds if math.isfinite(bound)), default=0.0)
    room += max(claim.step, source.step)
    if _is_at_its_limit(claim, source):
        return "different"
    if claim.comparator == source.comparator == "at_most":
        return "equal" if abs(claim.high - source.high) <= room else "different"
    is_inside = source.low >= claim.low - room and source.high <= claim.high + room
    if claim.comparator == source.comparator == "range":
        if source.low - claim.low <= room and claim.high - source.high <= room and is_inside:
            return "equal"
        return "compatible" if is_inside and claim.kind == "quantity" else "different"
    if claim.low > source.high + room or source.low > claim.high + room:
        return "different"
    is_rough = claim.comparator in ROUGH or source.comparator in ROUGH
    return "equal" if is_inside or is_rough else "compatible"


def _is_at_its_limit(claim: Value, source: Value) -> bool:
    """Return True for a claim "below 62 %" where the source says "62 %"."""
    if not source.is_exact:
        return False
    if claim.comparator == "less":
        return source.low >= claim.high
    return claim.comparator == "more" and source.high <= claim.low


def _compare_quantities(one: Value, two: Value) -> Agreement:
    if one.dimension != two.dimension:
        return "different" if _has_other_unit(one, two) else "not comparable"
    if not one.dimension and not _count_alike(one, two):
        return "not comparable"
    is_converted = one.dimension and one.unit != two.unit
    return _intervals(one, two, CONVERTED if is_converted else 0.0)


def _has_other_unit(one: Value, two: Value) -> bool:
    """Return True for one figure in two currencies, or in percent and percentage points."""
    groups = one.dimension.split(" ")[0], two.dimension.split(" ")[0]
    return groups[0] == groups[1] and (one.low, one.high) == (two.low, two.high)


def _count_alike(one: Value, two: Value) -> bool:
    """Return True unless two numbers say what they count, and count other things."""
    return not (one.counted and two.counted) or bool(one.counted & two.counted)


def _compare_dates(claim: Value, source: Value) -> Agreement:
    has_parts = any(claim.parts) and any(source.parts)
    is_open = any(math.isnan(bound) for bound in (claim.low, claim.high, source.low, source.high))
    if has_parts and (is_open or claim.is_exact and source.is_exact):
        return _compare_parts(claim, source)
    if is_open:
        return "not comparable"
    if claim.comparator == source.comparator == "at_most" and source.high <= claim.high:
        return "equal"  # what was done by 1958 was done by 1960
    return _intervals(claim, source)


def _compare_parts(claim: Value, source: Value) -> Agreement:
    """Compare dates at the precision that both have: "1962" agrees with "4 May 1962"."""
    known = 0
    is_more_precise = False
    for part, other in zip(claim.parts, source.parts, strict=True):
        if part is None:
            continue
        if other is None:
            is_more_precise = True
        elif part != other:
            return "different"
        else:
            known += 1
    if not known:
        return "not comparable"
    return "compatible" if is_more_precise else "equal"


# --- the slot of a value ---


def fill_same_slot(claim: str, value: Value, sentence: str, rival: Value) -> bool:
    """Return True if two values answer the same question about their texts, and differ.

    Numbers do that count the same thing or are of one dimension, dates that stand beside a word
    which both texts have.
    """
    if compare(value, rival) != "different":
        return False
    is_clear = value.dimension or (value.counted and rival.counted)
    return bool(is_clear or shared_around(claim, value.span, sentence, rival.span))


def shared_around(claim: str, span: Span, sentence: str, other: Span) -> frozenset[str]:
    """Return the stems of content words that stand near both spans, without names."""
    near_claim, near_sentence = _around(claim, span), _around(sentence, other)
    return (near_claim.content & near_sentence.content) - terms(claim).names


def _around(text: str, span: Span) -> Terms:
    before = text[max(0, span[0] - NEAR) : span[0]]
    return terms(f"{before} {text[span[1] : span[1] + NEAR]}")


# --- arithmetic ---


def computed(value: Value, sources: Sequence[Value], text: str) -> str:
    """Return how a claim's quantity follows from a passage's values, "34 − 19 = 15", or ""."""
    if value.kind != "quantity" or value.comparator in LIMITS:
        return ""
    for result, words in _results(sources, text):
        room = abs(result) * CLOSE
        if value.low - room <= result <= value.high + room:
            return f"{words} = {result:g}"
    return ""


def _results(sources: Sequence[Value], text: str) -> Iterator[tuple[float, str]]:
    exact = [v for v in sources if v.kind in ("quantity", "date") and v.low == v.high][:MOST_TERMS]
    for source in sources:
        if source.comparator == "range":
            yield source.high - source.low, text[slice(*source.span)]
    written = {term: text[slice(*term.span)] for term in exact}
    for one, two in combinations(exact, 2):
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
    if len(exact) > 1:
        yield sum(term.low for term in exact), " + ".join(written.values())
