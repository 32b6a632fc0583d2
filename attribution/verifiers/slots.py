"""Settle the values of a claim against a passage: read the claim with the passage's own value, and
compare the two.

A neural verifier knows well whether a passage states a claim, and hardly notices that "12 metres"
stands where the
claim has "12 feet". So it is asked whether the passage entails the claim with the passage's value
in it. If so, both
values fill the same slot, and arithmetic decides whether they agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from attribution.text.differences import measure_others
from attribution.text.sentences import sentences
from attribution.text.value_reading import values
from attribution.text.values import Value, compare
from attribution.text.words import shared_words
from attribution.types import Judgement, Pair, Probabilities, Span, quoted
from attribution.verifiers.pairs import Reads, verify_each

AHEAD = 0.2  # its least lead over the claim, where the passage has the claim's own value too
SUSPECTED = 0.5  # contradiction by a sentence from which on that value may stand in another slot
BEHIND = 0.1  # and its most lag behind it, where the values differ
SLOT = 0.5  # least entailment of the claim with the passage's value in it
# least probability of a relation for which values are settled, where the passage has few of the
# words
NOTICED = 0.1
READ = 3  # readings of a claim and a passage
LARGE = 1000.0  # smaller bare numbers are often those of figures, notes and lists
DATES = 3  # of a sentence that is no timeline
VALUES = 3  # values of a claim that are settled
_PREPOSITION = re.compile(r"\b(?:in|on|at|from|since|by|until|during) (?:the )?$", re.IGNORECASE)
VAGUE = re.compile(
    r"\b(?:can|may|might|could) (?:range|vary|differ)\b"
)  # other values can be true as well
_LISTED = re.compile(r",? (?:and |or )?")
_ALL_OF = re.compile(
    r"^(?:No|None of the|Neither of the|All the|All of the|All|Each of the|Each|Every|Both) |\b(?:always|never) "
)


@dataclass(frozen=True)
class Substituted:
    """A claim with the passage's values in place of its own."""

    place: int  # of the pair
    text: str
    differing: tuple[
        tuple[Value, Value], ...
    ]  # the claim's and the passage's, where they cannot both be true
    implied: bool  # does the passage's value imply the claim's?
    contested: bool = False  # the passage has the claim's value as well


def settle(read: Sequence[tuple[Pair, Judgement]], verifier: Reads) -> list[Judgement]:
    """Return the judgements of pairs, in order, corrected by the values of their texts."""
    settled = [judgement for _, judgement in read]
    asked = [
        reading
        for place, (pair, judgement) in enumerate(read)
        for reading in readings(place, pair, judgement)
    ]
    pairs: list[Pair] = [(reading.text, *read[reading.place][0][1:]) for reading in asked]
    best: dict[int, tuple[float, Substituted, Judgement]] = {}
    for reading, found in zip(asked, verify_each(verifier, pairs), strict=True):
        if isinstance(found, Judgement):
            entailed, own = (
                found.probabilities.entailed,
                settled[reading.place].probabilities.entailed,
            )
            least = own + AHEAD if reading.contested else own - BEHIND if reading.differing else 0.0
            decides = any(
                found.sentence[0] <= its.start < found.sentence[1] for _, its in reading.differing
            )
            if entailed >= max(SLOT, least) and entailed > best.get(reading.place, (0.0,))[0]:
                if reading.differing and not decides:
                    continue  # another sentence says it, whatever the value
                best[reading.place] = (entailed, reading, found)
    for place, (entailed, reading, found) in best.items():
        settled[place] = _settled(read[place][0], settled[place], entailed, reading, found)
    return settled


def _settled(
    pair: Pair, before: Judgement, entailed: float, reading: Substituted, found: Judgement
) -> Judgement:
    claim, passage = pair[:2]
    if reading.differing:
        probabilities = Probabilities(entailed=0.0, contradicted=entailed, no_relation=1 - entailed)
        mine, its = reading.differing[0]
        difference = f"the claim says {quoted(claim[slice(*mine.span)])}, the source {quoted(passage[slice(*its.span)])}"
        return replace(
            before,
            probabilities=probabilities,
            sentence=found.sentence,
            difference=difference,
            signals=before.signals | {"slot": round(entailed, 4)},
        )
    was = before.probabilities
    if not reading.implied:  # both can be true, and the claim says more than the passage
        none = round(was.no_relation + was.contradicted, 6)
        return replace(
            before,
            probabilities=Probabilities(entailed=was.entailed, contradicted=0.0, no_relation=none),
            difference="",
        )
    if entailed <= was.entailed:
        return before
    probabilities = Probabilities(entailed=entailed, contradicted=0.0, no_relation=1 - entailed)
    return replace(
        before,
        probabilities=probabilities,
        sentence=found.sentence,
        difference="",
        signals=before.signals | {"slot": round(entailed, 4)},
    )


def readings(place: int, pair: Pair, judgement: Judgement) -> Iterator[Substituted]:
    """Yield the claim with values of the passage, the likeliest first; none where the passage has
    all of its values.
    """
    claim, passage = pair[:2]
    mine, theirs = values(claim), values(passage)
    if not mine or not theirs or VAGUE.search(claim) or not _worth(pair, judgement):
        return
    met = [
        v
        for v in mine
        if not v.universal and any(_written_alike(claim, v, passage, w) for w in theirs)
    ]
    unmet = [v for v in mine if v not in met]
    if general := [v for v in unmet if v.universal]:
        unmet = general  # the other values say when, or of what, it holds
    rivals = {v: _rivals(claim, v, passage, theirs, judgement) for v in unmet}
    stated = (
        judgement.signals.get("sentence_entailed", 0.0) >= SLOT
    )  # by a sentence with the claim's own values
    contested = not any(rivals.values()) and not stated and (judgement.against or 0.0) >= SUSPECTED
    if contested:
        rivals = {
            v: [(w,) for (w,) in _rivals(claim, v, passage, theirs, judgement, contested=True)]
            for v in met
        }
    slots = [(v, found) for v, found in rivals.items() if found][:VALUES]
    for n in range(min(READ, max((len(found) for _, found in slots), default=0))):
        made = [(v, found[min(n, len(found) - 1)]) for v, found in slots]
        agreements = {
            (v, w): compare(v, w)
            for v, of in made
            for w in (_beside(passage, of, theirs) if v.universal else of)
        }
        differing = tuple(
            both for both, agreement in agreements.items() if agreement == "different"
        )
        if not all(_definite(v, w) for v, w in differing):
            continue
        implied = all(agreement in ("equal", "not comparable") for agreement in agreements.values())
        yield Substituted(place, _with(claim, passage, made), differing, implied, contested)


def _beside(passage: str, rivals: Sequence[Value], theirs: Sequence[Value]) -> list[Value]:
    """The passage's values in the sentence of the first rival: a claim about all of them holds for
    each.
    """
    start, end = _sentence_of(passage, rivals[0])
    return [w for w in theirs if start <= w.start < end]


@lru_cache(maxsize=256)
def _spans(passage: str) -> tuple[Span, ...]:
    return tuple(sentences(passage))


def _sentence_of(passage: str, value: Value) -> Span:
    return next(((a, b) for a, b in _spans(passage) if a <= value.start < b), (0, len(passage)))


def _definite(mine: Value, its: Value) -> bool:
    """Return True unless two bare numbers fail to say that they count the same: "two phases" and
    "figure 5".
    """
    if mine.kind != "quantity" or mine.dimension or mine.universal or mine.counted & its.counted:
        return True
    return not (mine.counted or its.counted) or min(mine.high, its.high) >= LARGE


def _shared(claim: str, passage: str, value: Value) -> float:
    return shared_words(claim, passage[slice(*_sentence_of(passage, value))])


def _written_alike(claim: str, value: Value, passage: str, other: Value) -> bool:
    return (
        compare(value, other) == "equal"
        and claim[slice(*value.span)].lower() == passage[slice(*other.span)].lower()
    )


def _worth(pair: Pair, judgement: Judgement) -> bool:
    probabilities = judgement.probabilities
    noticed = (
        max(probabilities.entailed, probabilities.contradicted, judgement.against or 0.0) >= NOTICED
    )
    return noticed or shared_words(*pair[:2]) >= 3


def _rivals(
    claim: str,
    value: Value,
    passage: str,
    theirs: Sequence[Value],
    judgement: Judgement,
    contested: bool = False,
) -> list[tuple[Value, ...]]:
    """The values of a passage that may fill the slot of a claim's, the likeliest first: near the
    deciding sentence.
    """
    found = {w: compare(value, w) for w in theirs}
    comparable = [
        w
        for w in theirs
        if found[w] != "not comparable" and not measure_others(claim, value, passage, w)
    ]
    if value.kind == "date":  # of a timeline each date is that of another event
        comparable = [
            w
            for w in comparable
            if sum(v.kind == "date" for v in _beside(passage, [w], theirs)) <= DATES
        ]
    if value.universal and len(comparable) > 1:
        if all(_LISTED.fullmatch(passage[a.end : b.start]) for a, b in pairwise(comparable)):
            return [tuple(comparable)]
    elif contested:
        comparable = [w for w in comparable if found[w] == "different"]
    else:
        if not value.is_exact:  # many values are "more than 20": the nearest sentence's count
            near = max((_shared(claim, passage, w) for w in comparable), default=0.0)
            comparable = [w for w in comparable if _shared(claim, passage, w) >= near]
        comparable = [w for w in comparable if found[w] == "equal"] or comparable

    def distance(rival: Value) -> tuple[float, bool]:
        inside = judgement.sentence[0] <= rival.start < judgement.sentence[1]
        return -_shared(claim, passage, rival), not inside

    return [(w,) for w in sorted(comparable, key=distance)]


def _with(claim: str, passage: str, made: Sequence[tuple[Value, Sequence[Value]]]) -> str:
    """The claim with the passage's values in its slots; "No runner needed …" becomes "The runner
    needed …".
    """
    for value, rivals in sorted(made, key=lambda m: -m[0].start):
        text = passage[rivals[0].start : rivals[-1].end]
        before = _PREPOSITION.search(passage, max(0, rivals[0].start - 12), rivals[0].start)
        if (
            before
            and value.kind in ("date", "time")
            and not _PREPOSITION.search(claim, 0, value.start)
        ):
            text = before[0] + text
        claim = claim[: value.start] + text + claim[value.end :]
        if value.universal:
            claim = _ALL_OF.sub(lambda found: "The " if not found.start() else "", claim)
    return claim
