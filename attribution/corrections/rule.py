"""Corrections by rule: a number, date, unit, name or negation of the claim gives way to the passage's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from attribution.corrections.subject import subject
from attribution.settings import Settings
from attribution.text.differences import Value, alike, values
from attribution.text.lexical import terms, words_of
from attribution.text.nlp import parse, with_entities
from attribution.text.sentences import sentences
from attribution.types import LlmUsage, Span

MOST = 10  # candidates of a claim and a passage
SAME_TYPE = 3.0  # what a name of the same type adds to its likeness
SHARED = 6.0  # what a sentence that shares all words with the claim adds to the likeness of its values
_CONNECTED = re.compile(r" (?:of|of the|de|da|von|van|del|la|and the) ")
_AUXILIARY = re.compile(r"(?:is|are|was|were|can|could|will|would|has|have|had|does|do|did|should|may|might|must)")


@dataclass(frozen=True)
class _Change:
    """What replaces a part of the claim, and how well it fits there."""

    span: Span
    text: str
    likeness: float


class RuleCorrector:
    """Corrector `rule`."""

    version = "rule/1"
    usage: LlmUsage | None = None

    def __init__(self, settings: Settings) -> None:
        pass

    def candidates(self, claim: str, passage: str, right: Sequence[str] = ()) -> list[str]:
        """The claim with values of the passage in place of its own, the likeliest first; at most ten.

        A name in the subject of the claim stays: another one would make it a claim about something else. So does what
        one of the texts in `right` says too.
        """
        changes = sorted(_changes(claim, passage, [passage, *right]), key=lambda c: -c.likeness)
        texts = [_replaced(claim, [c]) for c in changes]
        if (together := _together(changes)) and len(together) > 1:
            texts.insert(min(len(texts), 2), _replaced(claim, together))
        return [t for t in dict.fromkeys(texts) if t != claim][:MOST]


def _changes(claim: str, passage: str, right: Sequence[str]) -> Iterator[_Change]:
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
    for start, end in sentences(passage):
        sentence = passage[start:end]
        shared = SHARED * len(words & terms(sentence)[0]) / max(1, len(words))
        for its in _whole_names(sentence) if wrong else ():
            key = (its.kind, its.normal)
            said = mine[key] and mine[key] >= theirs[key]  # the passage may say a value once more than the claim
            if said or (its.kind == "name" and _opens(sentence, its) and passage.count(sentence[slice(*its.span)]) < 2):
                continue
            for own in wrong:
                if own.kind == its.kind:
                    same = own.kind == "name" and _type(claim, own) == _type(sentence, its) != ""
                    likeness = shared + alike(claim, own, sentence, its) + SAME_TYPE * same
                    yield _Change(own.span, sentence[slice(*its.span)], likeness)
        yield from _negations(claim, sentence, shared)


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
    for one, two in zip(found, found[1:], strict=False):
        if one.kind == two.kind == "name" and _CONNECTED.fullmatch(text[one.end : two.start]):
            found.append(Value("name", one.start, two.end, f"{one.normal} {two.normal}"))
    return found


def _negations(claim: str, sentence: str, shared: float) -> Iterator[_Change]:
    own, its = ([v for v in values(text) if v.kind == "negation"] for text in (claim, sentence))
    if own and not its:
        for value in own:
            if claim[slice(*value.span)].casefold() in ("not", "never"):
                yield _Change((value.start, value.end + claim[value.end :].startswith(" ")), "", shared)
    elif its and not own:
        for match in re.finditer(rf"\b{_AUXILIARY.pattern}\b", claim):
            yield _Change((match.end(), match.end()), " not", shared)
            break


def _together(changes: Sequence[_Change]) -> list[_Change]:
    """The best change of each place, as far as they do not overlap."""
    chosen: list[_Change] = []
    for change in changes:
        if all(change.span[1] <= c.span[0] or c.span[1] <= change.span[0] for c in chosen):
            chosen.append(change)
    return chosen


def _replaced(claim: str, changes: Sequence[_Change]) -> str:
    for change in sorted(changes, key=lambda c: -c.span[0]):
        claim = claim[: change.span[0]] + change.text + claim[change.span[1] :]
    return claim
