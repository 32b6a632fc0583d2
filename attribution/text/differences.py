"""Differences of a claim and a sentence: values that fill the same slot, "built in 1975" and "built in 1977"."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from attribution.policy import LOWEST_THRESHOLD
from attribution.text.remembering import remember
from attribution.text.values import MONTHS, TOKEN, UNITS, Kind, Value, values
from attribution.text.words import STOP_WORDS, folded, stem
from attribution.types import Probabilities, Span, quoted

KINDS: dict[Kind, str] = {  # as they are called before a reader
    "year": "Date", "month": "Date", "day": "Date", "number": "Number", "unit": "Unit", "name": "Name",
    "negation": "Negation",
}  # fmt: skip
MAX_VALUES = 2  # of a kind that may differ; where more do, the texts are about different things
ALIKE = 4.0  # least likeness of the words around two values, where the source has many
_NEAR = 4  # words on either side of a value
_DENIED = 8  # words after a negation that it may deny
_COUNTED = 3  # words after a number among which the thing that it counts stands
_DIMENSIONS: tuple[dict[str, float], ...] = (  # units that can stand in each other's place, in terms of the first
    {"m": 1, "km": 1000, "cm": 0.01, "mm": 0.001, "mile": 1609.34, "foot": 0.3048, "inch": 0.0254, "yard": 0.9144},
    {"kg": 1, "g": 0.001, "mg": 1e-6, "tonne": 1000, "pound": 0.4536, "ounce": 0.02835},
    {"litre": 1, "gallon": 3.785}, {"hectare": 1, "acre": 0.4047},
    {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 2.63e6, "year": 3.156e7,
     "decade": 3.156e8, "century": 3.156e9},
    {"watt": 1, "kw": 1e3, "mw": 1e6, "gw": 1e9}, {"hz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
    {"byte": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    dict.fromkeys(("dollar", "euro", "pound", "yen"), 0.0),  # not converted
)  # fmt: skip
_MEASURES = {
    word: words.split()[0]
    for words in (
        "deep depth", "high tall height", "long length", "wide broad width", "thick thickness", "old age", "above",
        "below", "from away distance",
    )
    for word in words.split()
}  # fmt: skip
_MEASURE = re.compile(r"[ -]?[a-zA-Z°%²]{1,15}\.? (deep|high|tall|long|wide|broad|thick|old|above|below|from|away)\b")
_REACH = 40  # characters before a number in which the noun stands that it measures
_NOUN_OF = re.compile(r"\b([a-z]{3,20}) of (?:(?:about|around|almost|nearly|over|only|roughly|some) )?[$€£¥]?$")
_AGED = re.compile(r"\b(?:aged|age|age of) $", re.IGNORECASE)
_UPPER = re.compile(r"(?: (?:to|or) |[–-])[\w.,]{1,20}(?= )")
_ABOUT = frozenset("about almost approximately around circa nearly roughly some".split())
CLOSE = 0.03  # share by which a rounded or converted number may differ


@dataclass(frozen=True)
class Contrast:
    """A value of a claim beside the source's; one of the two is empty for a negation. Spans are characters of each."""

    kind: str  # a word of KINDS
    claim: str
    source: str
    claim_span: Span | None = None
    source_span: Span | None = None


def lacking(text: str, other: str, kinds: Sequence[str]) -> list[Value]:
    """The values of these kinds in a text that the other text does not have; a name that shares a word is there."""
    theirs, words = {(v.kind, v.normal) for v in values(other)}, {folded(t[0]) for t in TOKEN.finditer(other)}
    return [
        v
        for v in values(text)
        if v.kind in kinds and (v.kind, v.normal) not in theirs and not (v.kind == "name" and v.words & words)
    ]


@remember(1024)
def contrasts(claim: str, sentence: str) -> tuple[Contrast, ...]:
    """The values that fill the same slot of both texts and differ, the claim's beside the source's."""
    rows: list[Contrast] = []
    for kind in KINDS:
        if kind == "negation":
            continue
        mine, theirs = lacking(claim, sentence, (kind,)), lacking(sentence, claim, (kind,))
        many = len(theirs) > MAX_VALUES
        for value in mine if len(mine) <= MAX_VALUES else ():
            alike_most = max(theirs, key=lambda v: (alike(claim, value, sentence, v), -v.start), default=None)
            if alike_most is None or (many and alike(claim, value, sentence, alike_most) < ALIKE):
                continue
            if fill_same_slot(claim, value, sentence, alike_most):
                theirs.remove(alike_most)
                own, its = value.span, alike_most.span
                rows.append(Contrast(KINDS[kind], claim[slice(*own)], sentence[slice(*its)], own, its))
    return (*rows, *_negations(claim, sentence))


@remember(1024)
def numbers_agree(claim: str, sentence: str) -> bool:
    """Return True if the sentence has each number of the claim that it lacks as a range, rounded or in another unit."""
    mine, theirs = lacking(claim, sentence, ("number",)), lacking(sentence, claim, ("number",))
    return bool(mine) and all(
        _in_range(one, sentence, theirs) or any(_agree(claim, one, sentence, other) for other in theirs) for one in mine
    )


def _negations(claim: str, sentence: str) -> Iterator[Contrast]:
    """A negation of one text, where the other says what it denies without one."""
    own, its = ([v for v in values(text) if v.kind == "negation"] for text in (claim, sentence))
    if bool(own) == bool(its):
        return
    text, other, (first, *_) = (claim, sentence, own) if own else (sentence, claim, its)
    if not set(_content(_around(text, first, _DENIED)[1])) & set(_content(_words(other)[2])):
        return
    word = text[slice(*first.span)]
    if own:
        yield Contrast(KINDS["negation"], word, "", first.span)
    else:
        yield Contrast(KINDS["negation"], "", word, source_span=first.span)


def differing_spans(claim: str, sentence: str) -> tuple[list[Span], list[Span]]:
    """The characters of a claim, and of a sentence, whose numbers, dates and names differ."""
    found = [c for c in contrasts(claim, sentence) if c.claim_span and c.source_span]
    return sorted(c.claim_span for c in found if c.claim_span), sorted(c.source_span for c in found if c.source_span)


def difference(claim: str, sentence: str, probabilities: Probabilities) -> str:
    """The values that set a claim against a sentence that may contradict it, in words; empty where there are none."""
    if probabilities.contradicted < LOWEST_THRESHOLD:
        return ""
    own, its = differing_spans(claim, sentence)
    if own:
        mine, theirs = (" and ".join(_stretches(text, spans)) for text, spans in ((claim, own), (sentence, its)))
        return f"the claim says {mine}, the source {theirs}"
    for negation in contrasts(claim, sentence):
        return f"only the {'claim' if negation.claim else 'source'} says {quoted(negation.claim or negation.source)}"
    return ""


def _stretches(text: str, spans: Sequence[Span]) -> Iterator[str]:
    """The quoted values, those side by side as one and a number with its unit: "30 days", "15 August 1914"."""
    units = {v.start: v.end for v in values(text) if v.kind == "unit"}
    merged: list[Span] = []
    for start, end in spans:
        end = max(end, units.get(end + 1, end))
        if merged and (text[merged[-1][1] : start].strip(" ,-") == "" or start < merged[-1][1]):
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return (quoted(text[start:end]) for start, end in merged)


def fill_same_slot(claim: str, mine: Value, sentence: str, its: Value) -> bool:
    """Return True if two values of a kind answer the same question about their texts.

    Numbers do that count the same thing or are in units of one dimension, dates and names that stand beside a word
    which both texts have. An ordinal is no answer to "how many".
    """
    if mine.kind != its.kind or mine.is_ordinal != its.is_ordinal:
        return False
    if mine.kind == "unit":
        return _same_dimension(mine.normal, its.normal) and bool(_shared_around(claim, mine, sentence, its))
    if mine.kind == "number" and not mine.is_ordinal:
        units = unit_of(claim, mine), unit_of(sentence, its)
        if any(units):
            return all(units) and _same_dimension(*units) and not _measure_others(claim, mine, sentence, its)
        counted = _counted(claim, mine), _counted(sentence, its)
        if all(counted):
            return bool(set(counted[0]) & set(counted[1]))
    return bool(_shared_around(claim, mine, sentence, its))


def measures_other(claim: str, sentence: str) -> bool:
    """Return True if a number of both texts measures another thing: "18 km long" and "18 km from the station"."""
    own, its = ([v for v in values(text) if v.kind == "number"] for text in (claim, sentence))
    for mine in own:
        same = [(_measured(claim, mine), _measured(sentence, v)) for v in its if v.normal == mine.normal]
        if same and all(one != two and {one, two} <= _MEASURES.keys() for one, two in same):
            return True
    return False


def _measure_others(claim: str, mine: Value, sentence: str, its: Value) -> bool:
    """Return True if the texts say what their numbers measure, and name two things: "a profit of", "a revenue of"."""
    one, two = _measured(claim, mine), _measured(sentence, its)
    return bool(one and two) and one != two and one not in _words(sentence)[2] and two not in _words(claim)[2]


def _measured(text: str, number: Value) -> str:
    """Return the measure of a number: "long" after it, or the noun in "a profit of £48" before it; empty for none."""
    found = _MEASURE.match(text, number.end) or _NOUN_OF.search(text, max(0, number.start - _REACH), number.start)
    return _MEASURES.get(found[1].lower(), found[1].lower()) if found else ""


def _same_dimension(one: str, two: str) -> bool:
    return one == two or any({one, two} <= units.keys() for units in _DIMENSIONS)


def _agree(claim: str, mine: Value, sentence: str, its: Value) -> bool:
    """Return True if two numbers are the same but for rounding or their unit: "about nine million" and "8,961,989"."""
    try:
        one, two = float(mine.normal), float(its.normal)
    except ValueError:
        return False
    units = unit_of(claim, mine), unit_of(sentence, its)
    factors = next((u for u in _DIMENSIONS if {*units} <= u.keys()), {})
    converted = units[0] != units[1] and all(factors.get(unit) for unit in units)
    if converted:
        one, two = one * factors[units[0]], two * factors[units[1]]
    rounded = any(_ABOUT & {*_around(text, value)[0][:2]} for text, value in ((claim, mine), (sentence, its)))
    return (converted or rounded) and abs(one - two) <= CLOSE * max(abs(one), abs(two))


def _in_range(mine: Value, sentence: str, theirs: Sequence[Value]) -> bool:
    """Return True if a number lies in a range of the source: 76 in "74 to 79"."""
    for low, high in pairwise(theirs):
        if sentence[low.end : high.start].strip(" ").lower() in ("to", "and", "–", "-", "or"):
            try:
                if float(low.normal) <= float(mine.normal) <= float(high.normal):
                    return True
            except ValueError:
                continue
    return False


def unit_of(text: str, number: Value) -> str:
    """The unit directly beside a number, years after "aged"; empty where it has none."""
    if _AGED.search(text, max(0, number.start - 8), number.start):
        return "year"
    end = number.end
    if upper := _UPPER.match(text, end):  # "five to seven weeks"
        end = upper.end()
    near = (v for v in values(text) if v.kind == "unit" and (v.end == number.start or 0 <= v.start - end <= 1))
    return next((v.normal for v in near), "")


def _counted(text: str, number: Value) -> list[str]:
    """The stems of the content words after a number, up to a mark or a stop word: what it counts is among them."""
    found: list[str] = []
    position = number.end
    for token in TOKEN.finditer(text, number.end):
        if text[position : token.start()].strip(" -") or folded(token[0]) in STOP_WORDS or len(found) == _COUNTED:
            break
        found += _content([folded(token[0])])
        position = token.end()
    return found


def _shared_around(claim: str, mine: Value, sentence: str, its: Value) -> set[str]:
    """The stems of content words that stand near both values; near a year, twice as many count as near."""
    near = 2 * _NEAR if mine.kind == "year" else _NEAR
    shared = set(_content(sum(_around(claim, mine, near), []))) & set(_content(sum(_around(sentence, its, near), [])))
    return shared - {stem(word) for v in values(claim) if v.kind == "name" and v.start != 0 for word in v.words}


def _content(words: Sequence[str]) -> list[str]:
    """The stems of words that are neither stop words nor values themselves."""
    return [stem(w) for w in words if w not in STOP_WORDS and w not in MONTHS and w not in UNITS and w.isalpha()]


def alike(text: str, value: Value, other: str, its: Value) -> float:
    """Count like words around two values: those on the same side count twice, a direct neighbour four times."""
    one, two = _around(text, value), _around(other, its)
    score = float(len({*one[0], *one[1]} & {*two[0], *two[1]}))
    for here, there in zip(one, two, strict=True):
        score += 2.0 * len(set(here) & set(there)) + 2.0 * bool(here and there and here[0] == there[0])
    return score


def _around(text: str, value: Value, near: int = _NEAR) -> tuple[list[str], list[str]]:
    """The words before and after a value, the nearest first."""
    starts, ends, words = _words(text)
    first, last = bisect_right(ends, value.start), bisect_left(starts, value.end)
    return list(words[max(0, first - near) : first][::-1]), list(words[last : last + near])


@remember(1024)
def _words(text: str) -> tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]:
    """The start and end of each word of a text, and the word, folded."""
    found = list(TOKEN.finditer(text))
    return tuple(t.start() for t in found), tuple(t.end() for t in found), tuple(folded(t[0]) for t in found)
