"""A claim with a value of a passage in place of its own: "in 1937" for "in 1939"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

from attribution.contrast.subject import subject
from attribution.text.differences import alike, quoted
from attribution.text.lexical import terms, words_of
from attribution.text.nlp import parse, with_entities
from attribution.text.sentences import sentences
from attribution.text.values import NUMERIC, Kind, Value, values
from attribution.types import Span

MOST = 4  # variants of a claim and a sentence
VALUES = 24  # of a claim, at most, that others are set against
SAME_TYPE = 3.0  # what a name of the same type adds to its likeness
SHARED = 6.0  # what a sentence that shares all words with the claim adds to the likeness of its values
_CONNECTED = re.compile(r" (?:of|of the|de|da|von|van|del|la|and the) ")


@dataclass(frozen=True)
class Change:
    """What replaces a part of the claim, how well it fits there, and whether it is of the same type."""

    span: Span
    text: str
    likeness: float
    kind: Kind
    same_type: bool = True  # names only: both persons, say, as spaCy takes them


@dataclass(frozen=True)
class Variant:
    """Another wording of a claim, and what sets it against the claim, in words."""

    text: str
    difference: str


def variants(claim: str, sentence: str) -> list[Variant]:
    """At most four wordings that differ from the claim in one value, which the sentence gives, the likeliest first.

    A number changes together with its unit, a name only for another of its type; two values that both texts name may
    also change places. What the claim is about stays, and so does what the sentence says too.
    """
    likely = sorted((c for c in changes(claim, sentence, [sentence]) if c.same_type), key=lambda c: -c.likeness)
    made = list(exchanged(claim, sentence))
    made += [_variant(claim, together) for together in with_units(likely)]
    first: dict[str, Variant] = {}
    for variant in made:
        if variant.text != claim:
            first.setdefault(variant.text, variant)
    return [*first.values()][:MOST]


def changes(claim: str, passage: str, right: Sequence[str]) -> Iterator[Change]:
    """Values of the passage for those of the claim of the same kind; what a text in `right` says too stays."""
    about = subject(claim)
    words = terms(claim)[0]
    theirs = Counter((v.kind, v.normal) for v in values(passage))
    known = [(set(words_of(text)), {(v.kind, v.normal) for v in values(text)}) for text in right]
    mine = Counter((v.kind, v.normal) for v in values(claim))
    wrong = [
        v
        for v in _whole_names(claim)
        if v.kind != "negation"
        and not about.holds(v)
        and not any((v.kind, v.normal) in said or (v.kind == "name" and v.words <= words) for words, said in known)
    ]
    for start, end in sentences(passage) if wrong else ():
        sentence = passage[start:end]
        shared = SHARED * len(words & terms(sentence)[0]) / max(1, len(words))
        for its in _whole_names(sentence):
            key = (its.kind, its.normal)
            said = mine[key] and mine[key] >= theirs[key]  # the passage may say a value once more than the claim
            if said or (its.kind == "name" and _opens(sentence, its) and passage.count(sentence[slice(*its.span)]) < 2):
                continue
            for own in wrong[:VALUES]:
                if own.kind == its.kind and own.is_ordinal == its.is_ordinal:
                    same = own.kind != "name" or _type(claim, own) == _type(sentence, its) != ""
                    likeness = shared + alike(claim, own, sentence, its) + SAME_TYPE * (same and own.kind == "name")
                    yield Change(own.span, sentence[slice(*its.span)], likeness, own.kind, same)


def with_units(found: Sequence[Change]) -> Iterator[list[Change]]:
    """Each change; that of a number together with the likeliest of the unit behind it."""
    units = {c.span[0]: c for c in sorted(found, key=lambda c: c.likeness) if c.kind == "unit"}
    for change in found:
        unit = units.get(change.span[1] + 1) if change.kind == "number" else None
        yield [change, unit] if unit else [change]


def replaced(claim: str, made: Sequence[Change]) -> str:
    """The claim with changes that do not overlap."""
    for change in sorted(made, key=lambda c: -c.span[0]):
        claim = claim[: change.span[0]] + change.text + claim[change.span[1] :]
    return claim


def exchanged(claim: str, sentence: str) -> Iterator[Variant]:
    """The claim with two names, or two numbers, that the sentence has as well, in each other's place."""
    said = set(words_of(sentence))
    found = [v for v in values(claim) if v.kind in ("name", *NUMERIC) and set(words_of(claim[slice(*v.span)])) <= said]
    for one, two in combinations(found[:VALUES], 2):
        if one.kind == two.kind and one.normal != two.normal:
            first, second = claim[slice(*one.span)], claim[slice(*two.span)]
            yield Variant(
                replaced(claim, [Change(one.span, second, 0.0, one.kind), Change(two.span, first, 0.0, two.kind)]),
                f"the source has {quoted(first)} and {quoted(second)} the other way round",
            )


def _variant(claim: str, made: Sequence[Change]) -> Variant:
    """With changes that stand side by side."""
    own, its = claim[made[0].span[0] : made[-1].span[1]], " ".join(change.text for change in made)
    return Variant(replaced(claim, made), f"the claim says {quoted(own)}, the source {quoted(its)}")


def _opens(sentence: str, value: Value) -> bool:
    """Whether it is one word at the beginning, which may be no name."""
    return not sentence[: value.start].strip() and " " not in value.normal


def _type(text: str, value: Value) -> str:
    """The kind of thing that spaCy takes a name for; empty where it takes it for none."""
    return next((label for start, end, label in _entities(text) if start < value.end and value.start < end), "")


@lru_cache(maxsize=512)
def _entities(text: str) -> tuple[tuple[int, int, str], ...]:
    entities = with_entities(parse(text)[:].as_doc()).ents
    return tuple((e.start_char, e.end_char, e.label_) for e in entities)


def _whole_names(text: str) -> list[Value]:
    """The values of a text; names that "of" connects, also as one."""
    found = list(values(text))
    for one, two in pairwise(tuple(found)):
        if one.kind == two.kind == "name" and _CONNECTED.fullmatch(text[one.end : two.start]):
            found.append(Value("name", one.start, two.end, f"{one.normal} {two.normal}"))
    return found
