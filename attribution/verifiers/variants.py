"""Variants of a claim, with a value of a passage in place of its own: "in 1937" for "in 1939"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

from attribution.text.differences import Item, alike, fill_same_slot, items
from attribution.text.names import Name, names
from attribution.text.parse import NOMINAL_SUBJECTS, parse, root, with_entities
from attribution.text.sentences import sentences
from attribution.text.value_reading import values
from attribution.text.values import Value, compare
from attribution.text.words import terms, words_of
from attribution.types import Span, quoted

MAX_VARIANTS = 4  # variants of a claim and a sentence
VALUES = 24  # of a claim, at most, that are replaced by others
SAME_TYPE = 3.0  # what a name of the same type adds to its likeness
SHARED = (
    6.0  # what a sentence that shares all words with the claim adds to the likeness of its values
)
_CONNECTED = re.compile(r" (?:of|of the|de|da|von|van|del|la|and the) ")


@dataclass(frozen=True)
class Exchange:
    """A replacement for a part of the claim, with how well it fits there."""

    span: Span
    text: str
    likeness: float
    kind: str  # of a value, name or negation
    same_type: bool = True  # names only: both are persons, say, according to spaCy
    same_slot: bool = True  # both answer the same question: "twelve locks" and "two seas" do not


@dataclass(frozen=True)
class Variant:
    """Another wording of a claim, and how it differs from the claim, in words; no words where that
    explains nothing.
    """

    text: str
    difference: str


def variants(claim: str, sentence: str) -> list[Variant]:
    """Return at most four wordings that differ from the claim in one name given by the sentence,
    the likeliest first.

    A name changes only for another of its type; two values that both texts name may also change
    places. The
    subject of the claim stays, and so does every value that the sentence states too.
    """
    named = (c for c in changes(claim, sentence, [sentence]) if c.kind == "name" and c.same_type)
    made = list(exchanged(claim, sentence))
    made += [_variant(claim, [change]) for change in sorted(named, key=lambda c: -c.likeness)]
    first: dict[str, Variant] = {}
    for variant in made:
        if variant.text != claim:
            first.setdefault(variant.text, variant)
    return [*first.values()][:MAX_VARIANTS]


def changes(claim: str, passage: str, right: Sequence[str]) -> Iterator[Exchange]:
    """Yield values of the passage for those of the claim of the same kind; what a text in `right`
    says too stays.
    """
    words = terms(claim)[0]
    wrong = list(_wrong(claim, [passage, *right]))[:VALUES]
    for start, end in sentences(passage) if wrong else ():
        sentence = passage[start:end]
        shared = SHARED * len(words & terms(sentence)[0]) / max(1, len(words))
        for its in _items(sentence):
            if _stated(its, claim) or (
                isinstance(its, Name)
                and _opens(sentence, its)
                and passage.count(sentence[slice(*its.span)]) < 2
            ):
                continue
            for own in wrong:
                if isinstance(own, Name) and isinstance(its, Name):
                    same, kind = _type(claim, own) == _type(sentence, its) != "", "name"
                elif (
                    isinstance(own, Value)
                    and isinstance(its, Value)
                    and compare(own, its) == "different"
                ):
                    same, kind = True, own.kind
                else:
                    continue
                likeness = (
                    shared
                    + alike(claim, own, sentence, its)
                    + SAME_TYPE * (same and kind == "name")
                )
                slot = fill_same_slot(claim, own, sentence, its)
                yield Exchange(own.span, sentence[slice(*its.span)], likeness, kind, same, slot)


def _wrong(claim: str, right: Sequence[str]) -> Iterator[Item]:
    """The names and values of a claim outside its subject that none of the texts has."""
    about = subject(claim)
    known = [set(words_of(text)) for text in right]
    for item in _items(claim):
        named = isinstance(item, Name) and any(item.words <= stated for stated in known)
        if not (named or about.holds(item) or any(_stated(item, text) for text in right)):
            yield item


def _stated(item: Item, text: str) -> bool:
    if isinstance(item, Name):
        return item.normal in {name.normal for name in names(text)}
    return any(compare(item, value) == "equal" for value in values(text))


def replaced(claim: str, made: Sequence[Exchange]) -> str:
    """Apply changes that do not overlap to the claim."""
    for change in sorted(made, key=lambda c: -c.span[0]):
        claim = claim[: change.span[0]] + change.text + claim[change.span[1] :]
    return claim


def exchanged(claim: str, sentence: str) -> Iterator[Variant]:
    """Yield the claim with two of its names, or two of its numbers, exchanged, if the sentence has
    both as well.
    """
    stated = set(words_of(sentence))
    found = [v for v in items(claim) if set(words_of(claim[slice(*v.span)])) <= stated]
    for one, two in combinations(found[:VALUES], 2):
        if isinstance(one, Value) == isinstance(two, Value) and _differ(one, two):
            first, second = claim[slice(*one.span)], claim[slice(*two.span)]
            yield Variant(
                replaced(
                    claim,
                    [
                        Exchange(one.span, second, 0.0, "name"),
                        Exchange(two.span, first, 0.0, "name"),
                    ],
                ),
                f"the source has {quoted(first)} and {quoted(second)} the other way round",
            )


def _differ(one: Item, two: Item) -> bool:
    if isinstance(one, Value) and isinstance(two, Value):
        return compare(one, two) == "different"
    return isinstance(one, Name) and isinstance(two, Name) and one.normal != two.normal


def _variant(claim: str, made: Sequence[Exchange]) -> Variant:
    """Return the variant with these adjacent changes."""
    own, its = claim[made[0].span[0] : made[-1].span[1]], " ".join(change.text for change in made)
    difference = (
        f"the claim says {quoted(own)}, the source {quoted(its)}" if made[0].same_slot else ""
    )
    return Variant(replaced(claim, made), difference)


def _opens(sentence: str, value: Name) -> bool:
    """Return True if the value is one word at the beginning, which may not be a name."""
    return not sentence[: value.start].strip() and " " not in value.normal


def _type(text: str, value: Name) -> str:
    """Return the entity type that spaCy gives a name; empty if it finds no entity there."""
    return next(
        (label for start, end, label in _entities(text) if start < value.end and value.start < end),
        "",
    )


@lru_cache(maxsize=1024)
def _entities(text: str) -> tuple[tuple[int, int, str], ...]:
    entities = with_entities(parse(text)[:].as_doc()).ents
    return tuple((e.start_char, e.end_char, e.label_) for e in entities)


def _items(text: str) -> list[Item]:
    """Return the names and values of a text; names that "of" connects, also as one."""
    found = items(text)
    for one, two in pairwise(names(text)):
        if _CONNECTED.fullmatch(text[one.end : two.start]):
            found.append(Name(one.start, two.end, f"{one.normal} {two.normal}"))
    return found


@dataclass(frozen=True)
class Subject:
    """The subject of a claim's main clause, up to a comma, a bracket or a relative clause; (0, 0)
    if there is none.
    """

    whole: Span = (0, 0)
    named: Span = (0, 0)  # its part up to the main noun, where that names or points at something

    def holds(self, value: Item) -> bool:
        """Return True if another value there would change what the claim is about.

        "The film of 1960" is about its year; "30 people died" and "the roofs of 30 houses" only say
        how many.
        """
        start, end = self.whole if isinstance(value, Name) else self.named
        return start <= value.start < end


def subject(claim: str) -> Subject:
    """Return the subject of the first sentence."""
    doc = parse(claim)
    child = (
        next((c for c in root(doc).children if c.dep_ in NOMINAL_SUBJECTS), None)
        if len(doc)
        else None
    )
    if child is None:
        return Subject()
    tokens = sorted(child.subtree, key=lambda t: t.i)
    start = tokens[0].idx
    cut = (
        t.idx
        for t in tokens
        if t.i > child.i and (t.is_punct or t.dep_ in ("relcl", "acl", "appos"))
    )
    end = next(cut, tokens[-1].idx + len(tokens[-1]))
    noun = child.idx + len(child)
    points = tokens[0].tag_ in ("DT", "PRP$") or any(start <= v.start < noun for v in names(claim))
    return Subject((start, end), (start, noun) if points else (0, 0))


def keeps_subject(claim: str, after: str) -> bool:
    """Return True if another wording still has all words of the claim's subject."""
    return set(words_of(claim[slice(*subject(claim).whole)])) <= set(words_of(after))
