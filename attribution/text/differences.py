"""Differences of a claim and a sentence: values and names that fill the same slot, "built in 1975",
"built in 1977".
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

from attribution.policy import LOWEST_THRESHOLD
from attribution.text.names import Name, names, negations
from attribution.text.parse import parse
from attribution.text.value_patterns import MONTHS, UNITS
from attribution.text.value_reading import values
from attribution.text.values import Value, compare, figures_meet
from attribution.text.words import STOP_WORDS, beginnings, folded, stem, words_of
from attribution.types import Probabilities, Span, quoted

KINDS = {
    "quantity": "Number",
    "date": "Date",
    "time": "Time",
    "frequency": "Frequency",
    "factor": "Factor",
    "rank": "Rank",
    "score": "Score",
}  #  # as they are called before a reader
MAX_VALUES = 2  # of a kind that may differ; where more do, the texts are about different things
ALIKE = 4.0  # least likeness of the words around two values, where the source has many
_NEAR = 4  # words on either side of a value
_DENIED = 8  # words after a negation that it may deny
_WORD = re.compile(r"\d[\d.,]*|[^\W\d_]+(?:['’-][^\W\d_]+)*")
MEASURES = {
    word: words.split()[0]
    for words in (
        "deep depth",
        "high tall height",
        "long length",
        "wide broad width",
        "thick thickness",
        "old age",
        "above",
        "below",
        "from away distance",
    )
    for word in words.split()
}
_MEASURE = re.compile(r"[ -]?(deep|high|tall|long|wide|broad|thick|old|above|below|from|away)\b")
_JOINT = re.compile(r"[,;:]|\b(?:and|while|but|against|compared)\b")
_LISTED = ("quantity", "time", "frequency")
_REST = re.compile(r"\bthe (?:rest|others|remainder)\b")
_REACH = 50  # characters before a number in which the noun stands that it measures
_MEASURED = re.compile(
    r"\b([a-z]{3,20})(?: was| is| of| were| are| reached| totalled| stood at| came to)+ "
    r"(?:(?:about|around|almost|nearly|over|only|roughly|some|up to) )?$"
)

Item = Value | Name


def items(text: str) -> list[Item]:
    """The names and the values of a text."""
    return [*names(text), *values(text)]


@dataclass(frozen=True)
class Contrast:
    """A value of a claim beside the source's; one of the two is empty for a negation. Spans are
    characters of each.
    """

    kind: str  # a word of KINDS, Name or Negation
    claim: str
    source: str
    claim_span: Span | None = None
    source_span: Span | None = None


@lru_cache(maxsize=1024)
def contrasts(claim: str, sentence: str) -> tuple[Contrast, ...]:
    """The values that fill the same slot of both texts and differ, the claim's beside the source's."""
    pairs = [*_differing(claim, unmet(claim, sentence), sentence, unmet(sentence, claim))]
    pairs += _differing(claim, unnamed(claim, sentence), sentence, unnamed(sentence, claim))
    rows = (
        Contrast(
            _kind(mine), claim[slice(*mine.span)], sentence[slice(*its.span)], mine.span, its.span
        )
        for mine, its in pairs
    )
    return (*rows, *_negations(claim, sentence))


def unmet(text: str, other: str) -> list[Value]:
    """The values of a text for which the other text has none that can be true as well."""
    theirs = values(other)
    return [
        v for v in values(text) if not any(compare(v, w) in ("equal", "compatible") for w in theirs)
    ]


def unnamed(text: str, other: str) -> list[Item]:
    """The names of a text that share no word with the other text."""
    words = set(_words(other)[2])
    return [name for name in names(text) if not name.words & words]


def _differing(
    claim: str, mine: Sequence[Item], sentence: str, its: Sequence[Item]
) -> Iterator[tuple[Item, Item]]:
    theirs, kinds = list(its), Counter(map(_kind, its))
    own = Counter(map(_kind, mine))
    for value in mine:
        many = kinds[_kind(value)] > MAX_VALUES
        if own[_kind(value)] > MAX_VALUES:
            continue
        rivals = [w for w in theirs if fill_same_slot(claim, value, sentence, w)]
        nearest = max(
            rivals, key=lambda w: (alike(claim, value, sentence, w), -w.start), default=None
        )
        if nearest and not (many and alike(claim, value, sentence, nearest) < ALIKE):
            theirs.remove(nearest)
            yield value, nearest


def _kind(item: Item) -> str:
    return KINDS[item.kind] if isinstance(item, Value) else "Name"


def fill_same_slot(claim: str, mine: Item, sentence: str, its: Item) -> bool:
    """Return True if two values answer the same question about their texts, and differ.

    Numbers do that count the same thing or are of one dimension, dates and names that stand beside
    a word which both
    texts have.
    """
    if isinstance(mine, Value) and isinstance(its, Value):
        if compare(mine, its) != "different":
            return False
        if (
            mine.kind in ("time", "frequency", "factor")
            or mine.dimension
            or (mine.counted and its.counted)
        ):
            return not measure_others(claim, mine, sentence, its)
    elif isinstance(mine, Value) or isinstance(its, Value):
        return False
    return bool(_shared_around(claim, mine, sentence, its))


@lru_cache(maxsize=1024)
def values_agree(claim: str, sentence: str) -> bool:
    """Return True if the sentence has each value of the claim, some in other words: a range,
    rounded, another unit.
    """
    mine, theirs = values(claim), values(sentence)
    written = {sentence[slice(*w.span)].lower() for w in theirs}
    rest = [v for v in mine if claim[slice(*v.span)].lower() not in written]
    return bool(rest) and all(any(compare(v, w) == "equal" for w in theirs) for v in rest)


def _negations(claim: str, sentence: str) -> Iterator[Contrast]:
    """A negation of one text, where the other says without one what it denies: of a claim, its next
    word.
    """
    own, its = negations(claim), negations(sentence)
    if bool(own) == bool(its):
        return
    text, other, (first, *_) = (claim, sentence, own) if own else (sentence, claim, its)
    denied = _content(_around(text, first, _DENIED)[1])[: 1 if own else None]
    if not set(denied) & set(_content(_words(other)[2])):
        return
    word = text[slice(*first)]
    if own:
        yield Contrast("Negation", word, "", first)
    else:
        yield Contrast("Negation", "", word, source_span=first)


def differing_spans(claim: str, sentence: str) -> tuple[list[Span], list[Span]]:
    """The characters of a claim, and of a sentence, whose values and names differ."""
    found = [c for c in contrasts(claim, sentence) if c.claim_span and c.source_span]
    return sorted(c.claim_span for c in found if c.claim_span), sorted(
        c.source_span for c in found if c.source_span
    )


def difference(claim: str, sentence: str, probabilities: Probabilities) -> str:
    """The values that set a claim against a sentence that may contradict it, in words; empty where
    there are none.
    """
    if probabilities.contradicted < LOWEST_THRESHOLD:
        return ""
    found = contrasts(claim, sentence)
    if both := [c for c in found if c.claim and c.source]:
        mine, its = (
            " and ".join(map(quoted, side))
            for side in ([c.claim for c in both], [c.source for c in both])
        )
        return f"the claim says {mine}, the source {its}"
    for negation in found:
        return f"only the {'claim' if negation.claim else 'source'} says {quoted(negation.claim or negation.source)}"
    return ""


def measures_other(claim: str, sentence: str) -> bool:
    """Return True if a value of both texts measures another thing: "18 km long" and "18 km from the
    station".
    """
    for mine in values(claim):
        same = [
            (_measured(claim, mine), _measured(sentence, its))
            for its in values(sentence)
            if mine.kind == its.kind == "quantity" and compare(mine, its) == "equal"
        ]
        if same and all(one != two and {one, two} <= MEASURES.keys() for one, two in same):
            return True
    return False


def value_of_another(claim: str, sentence: str) -> tuple[str, str] | None:
    """Return a value of the claim that a list has for another subject, and what it has for the
    claim's.

    “46 % with the drug and 19 % with salt water” has 46 % for “the drug”, “closes at 6, in winter
    at 4” has 6 for the
    rest of the year. Only nouns and names count. The words before the first value may be about all
    of the list, but
    for a name: “Moorgold has 5.2 %, Nachtlicht 7.8 %”.
    """
    theirs = [w for w in values(sentence) if w.kind in _LISTED]
    wanted = {stem(folded(t.text)) for t in parse(claim) if t.pos_ in ("NOUN", "PROPN", "ADJ")}
    named = {stem(word) for name in names(claim) for word in name.words}
    said = {stem(word) for word in words_of(claim)} - wanted
    own_values = [v for v in values(claim) if v.kind in _LISTED]
    for mine in own_values:
        if claim[: mine.start].endswith(("per ", "-")) or claim[mine.end : mine.end + 1] == "-":
            continue  # "per 100 g", "7-Eleven"
        same = [w for w in theirs if compare(mine, w) == "equal"]
        left = [w for w in theirs if not any(compare(v, w) == "equal" for v in own_values)]
        if len(same) != 1:
            continue
        rivals = [
            w
            for w in left
            if w.dimension == same[0].dimension and compare(same[0], w) == "different"
        ]
        if not rivals:
            continue
        parts = _list_parts(sentence, sorted([*same, *rivals], key=lambda w: w.start))
        (own,) = (part for part in parts if part.start <= same[0].start < part.end)
        others = [part for part in parts if part is not own]
        shared = frozenset().union(same[0].counted, *(part.words for part in others))
        if beginnings(own.words - shared) & beginnings(said - shared):
            continue  # "22 withdrew", of "Patients 206; Withdrawals 22"
        for part in reversed(others):
            another = wanted & (part.words - own.words)
            if not own.words - wanted or wanted & own.words - shared:
                another = (
                    another & (named - own.all_words)
                    if own.all_words - wanted - part.words
                    else set()
                )
            if another:
                its = [sentence[slice(*w.span)] for w in rivals if part.start <= w.start < part.end]
                written = sentence[part.start : part.end].strip(" ,;.")
                return claim[slice(*mine.span)], its[0] if len(its) == 1 else written
    return None


@dataclass(frozen=True)
class _ListPart:
    start: int
    end: int
    all_words: frozenset[str]
    words: frozenset[
        str
    ]  # without those before the first value of the list, which may be about all of it


def _list_parts(sentence: str, found: Sequence[Value]) -> list[_ListPart]:
    """The parts of a sentence around values, and “the rest”, with their words beside values and
    stop words.
    """
    starts = [w.span for w in found] + [m.span() for m in _REST.finditer(sentence, found[0].end)]
    cuts = [0]
    for (_, end), (start, _) in pairwise(sorted(starts)):
        if joints := list(_JOINT.finditer(sentence, end, start)):
            cuts.append(joints[-1].start())
    times = {stem(value.per) for value in found}

    def words(start: int, end: int) -> frozenset[str]:
        inside = [
            w
            for w in _WORD.finditer(sentence, start, end)
            if not any(v.start <= w.start() < v.end for v in found)
        ]
        return (
            frozenset(
                stem(low)
                for w in inside
                if (low := folded(w[0])) not in STOP_WORDS and low.isalpha()
            )
            - times
        )

    return [
        _ListPart(a, b, words(a, b), (not a and words(found[0].end, b)) or words(a, b))
        for a, b in pairwise([*cuts, len(sentence)])
    ]


def exchanged(claim: str, sentence: str) -> tuple[Value, Value] | None:
    """Return a value of a claim and the sentence's instead, where two values stand the other way
    round.

    “10 m apart, with 20 m between rows” and “20 m apart, with 10 m between rows”.
    """
    own = [v for v in values(claim) if v.kind in _LISTED]
    its = [v for v in values(sentence) if v.kind in _LISTED]
    for one, two in combinations(own, 2):
        pair = [[w for w in its if _same_figure(v, w)] for v in (one, two)]
        if _same_figure(one, two) or not all(len(found) == 1 for found in pair):
            continue
        (first,), (second,) = pair
        if one.dimension != two.dimension and first.dimension != second.dimension:
            continue  # "Dora 2 costs €9"
        a, b = (_words_by(claim, [one, two], v) for v in (one, two))
        c, d = (_words_by(sentence, [first, second], v) for v in (first, second))
        of_all = _words_before(claim, one, two) | _words_before(sentence, first, second)
        if (a & d - c or b & c - d) and not ((a & c - d) | (b & d - c)) - of_all:
            return one, second
    return None


def _same_figure(one: Value, two: Value) -> bool:
    """Return True for two values of which one may lack a unit: "10 minutes" and "no later than 10"."""
    return (
        compare(one, two) == "equal"
        or not (one.dimension and two.dimension)
        and figures_meet(one, two)
    )


def _words_before(text: str, one: Value, two: Value) -> frozenset[str]:
    """The stems of the words before the first of two values: they may be about both."""
    return frozenset(map(stem, map(folded, _WORD.findall(text[: min(one.start, two.start)]))))


def _words_by(text: str, found: Sequence[Value], item: Value) -> frozenset[str]:
    """The stems of content words in the part of a text between joints that has an item, beside the
    items.
    """
    start = max((found.start() for found in _JOINT.finditer(text, 0, item.start)), default=0)
    after = _JOINT.search(text, item.end)
    end = after.start() if after else len(text)
    inside = (
        w
        for w in _WORD.finditer(text, start, end)
        if not any(v.start <= w.start() < v.end for v in found)
    )
    return frozenset(
        stem(low) for w in inside if (low := folded(w[0])) not in STOP_WORDS and low.isalpha()
    )


def measure_others(claim: str, mine: Value, sentence: str, its: Value) -> bool:
    """Return True if the texts say what their values measure, and name two things: "a profit of",
    "a revenue of".
    """
    one, two = _measured(claim, mine), _measured(sentence, its)
    return (
        bool(one and two)
        and one != two
        and one not in _words(sentence)[2]
        and two not in _words(claim)[2]
    )


def _measured(text: str, value: Value) -> str:
    """Return the word that says what a value measures; empty for none: "a height of 9 m above", "9
    m deep".
    """
    found = _MEASURED.search(text, max(0, value.start - _REACH), value.start)
    if value.kind == "quantity" and not (found and found[1] in MEASURES):
        found = _MEASURE.match(text, value.end) or found
    return MEASURES.get(found[1], found[1]) if found else ""


def _shared_around(claim: str, mine: Item, sentence: str, its: Item) -> set[str]:
    """The stems of content words that stand near both; near a date, twice as many count as near."""
    near = 2 * _NEAR if isinstance(mine, Value) and mine.kind == "date" else _NEAR
    around = [
        set(_content(sum(_around(text, v.span, near), [])))
        for text, v in ((claim, mine), (sentence, its))
    ]
    return around[0] & around[1] - {
        stem(word) for name in names(claim) if name.start for word in name.words
    }


def _content(words: Sequence[str]) -> list[str]:
    """The stems of words that are neither stop words nor values themselves."""
    return [
        stem(w)
        for w in words
        if w not in STOP_WORDS and w not in MONTHS and w not in UNITS and w.isalpha()
    ]


def alike(text: str, value: Item, other: str, its: Item) -> float:
    """Count like words around two values: those on the same side count twice, a direct neighbour
    four times.
    """
    one, two = _around(text, value.span), _around(other, its.span)
    score = float(len({*one[0], *one[1]} & {*two[0], *two[1]}))
    for here, there in zip(one, two, strict=True):
        score += 2.0 * len(set(here) & set(there)) + 2.0 * bool(
            here and there and here[0] == there[0]
        )
    return score


def _around(text: str, span: Span, near: int = _NEAR) -> tuple[list[str], list[str]]:
    """The words before and after a value, the nearest first."""
    starts, ends, words = _words(text)
    first, last = bisect_right(ends, span[0]), bisect_left(starts, span[1])
    return list(words[max(0, first - near) : first][::-1]), list(words[last : last + near])


@lru_cache(maxsize=1024)
def _words(text: str) -> tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]:
    """The start and end of each word of a text, and the word, folded."""
    found = list(_WORD.finditer(text))
    return (
        tuple(t.start() for t in found),
        tuple(t.end() for t in found),
        tuple(folded(t[0]) for t in found),
    )
