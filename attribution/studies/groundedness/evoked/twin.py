"""Make altered twins of an answer, with the characters that differ; reorder steps and events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attribution.text.parse import parse
from attribution.types import Span

KINDS = {
    "number": "a number, year or share is another one",
    "name": "a person, place or organisation is another one",
    "negation": "a statement is negated, or its negation taken away",
    "order": "steps or events are in another order",
    "scope": "what holds for some, often or partly is said to hold for all, always or entirely",
}
ERROR_TYPES = {  # labels of T24's error analysis (table 4); the last one: not mentioned in the source at all
    "factual_inaccuracy": "A number, date, name or property is wrong.",
    "misattribution": "Something is ascribed to the wrong person, body, place or source.",
    "contextual_misinterpretation": "Something is carried beyond the condition, part or degree that the source gives.",
    "procedural_error": "Steps, deadlines or their order are wrong.",
    "reasoning_error": "A cause or a conclusion does not follow from the source.",
    "unsupported_addition": "The source says nothing about it.",
}
TYPE_OF = {
    "number": "factual_inaccuracy",
    "name": "misattribution",
    "negation": "factual_inaccuracy",
    "order": "procedural_error",
    "scope": "contextual_misinterpretation",
}  # the type of an alteration by rule, unless a person or two models disagree


@dataclass(frozen=True)
class Edit:
    """A replacement of characters of the answer by a text, which is not empty."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Twin:
    """An altered answer: outside `changed` it equals, character by character, the answer outside `original`."""

    response: str
    kind: str  # of KINDS
    changed: tuple[Span, ...]  # in the twin, in order
    original: tuple[Span, ...]  # the corresponding characters of the answer
    version: str = "rules"  # or prompt and model


def apply(answer: str, edits: Sequence[Edit], kind: str, version: str = "rules") -> Twin:
    """Apply edits. Raises ValueError for edits that overlap, are empty, or lie outside the answer."""
    parts: list[str] = []
    changed: list[Span] = []
    ordered = sorted(edits, key=lambda e: e.start)
    at = length = 0
    for edit in ordered:
        if not at <= edit.start < edit.end <= len(answer) or not edit.text:
            raise ValueError(f"edit {edit} overlaps another one, is empty, or lies outside {len(answer)} characters")
        kept = answer[at : edit.start]
        changed.append((length + len(kept), length + len(kept) + len(edit.text)))
        parts += [kept, edit.text]
        length, at = length + len(kept) + len(edit.text), edit.end
    response = "".join(parts) + answer[at:]
    return Twin(response, kind, tuple(changed), tuple((e.start, e.end) for e in ordered), version)


if TYPE_CHECKING:
    from spacy.tokens import Doc

_STEP = re.compile(r"^[ \t]*(\d{1,2})[.)][ \t]+(\S.*\S)[ \t]*$", re.MULTILINE)
_TIMES = {"after": "before", "before": "after", "later": "earlier", "earlier": "later"}
_IDIOMS = {"name", "look", "take", "model", "seek", "call", "go", "come", "bring", "appear", "ask", "pattern"}
_UNITS = {"second", "minute", "hour", "day", "week", "month", "year", "decade", "century", "centuries"}


def steps(answer: str) -> Iterator[tuple[Edit, ...]]:
    """Yield swaps of two neighbouring steps in a numbered list of instructions; the numbers stay."""
    items = list(_STEP.finditer(answer))
    for one, two in zip(items, items[1:], strict=False):
        if int(two[1]) != int(one[1]) + 1 or answer[one.end() : two.start()].strip():
            continue
        if _instruction(one[2]) and _instruction(two[2]):
            yield Edit(*one.span(2), two[2]), Edit(*two.span(2), one[2])


def _instruction(text: str) -> bool:
    """Return True if a text tells the reader to do something."""
    first = parse(text.lstrip("*_"))[0]
    return first.tag_ in ("VB", "VBP") or (first.i == first.head.i and first.pos_ == "VERB")


def times(doc: Doc) -> Iterator[Edit]:
    """Yield swaps of "after" and "before" that order two events, and "two years later" → "two years earlier"."""
    for token in doc:
        other = _TIMES.get(token.lower_)
        if other is None:
            continue
        if token.lower_ in ("later", "earlier"):
            unit = doc[token.i - 1].lower_.rstrip("s") if token.i else ""
            fits = unit in _UNITS and token.dep_ == "advmod"
        else:
            following = [t for t in token.children if t.dep_ in ("pcomp", "pobj")]
            verbal = token.dep_ == "mark" and token.head.dep_ == "advcl"
            named = any(t.pos_ == "PRON" or t.dep_ == "pobj" and t.pos_ == "PROPN" for t in following)
            fits = (verbal or bool(following)) and not named and token.head.lemma_.lower() not in _IDIOMS
            fits = fits and token.head.lower_ not in {f"{w}ed" for w in _IDIOMS} | {"named", "sought", "soon", "day"}
        if fits:
            yield Edit(token.idx, token.idx + len(token), other.capitalize() if token.text[0].isupper() else other)
