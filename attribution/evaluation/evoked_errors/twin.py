"""An answer and its altered twin, and the characters that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.types import Span

KINDS = {
    "number": "a number, year or share is another one",
    "name": "a person, place or organisation is another one",
    "negation": "a statement is negated, or its negation taken away",
    "order": "steps or events are in another order",
    "scope": "what holds for some, often or partly is said to hold for all, always or entirely",
}
ERROR_TYPES = {  # labels of T24's error analysis (table 4); the last one is for what the source does not mention at all
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
}  # the type that an alteration by rule stands for, until a person or two models say otherwise


@dataclass(frozen=True)
class Edit:
    """These characters of the answer are replaced by this text, which is not empty."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Twin:
    """An altered answer: what is outside `changed` is the same, character by character, outside `original`."""

    response: str
    kind: str  # of KINDS
    changed: tuple[Span, ...]  # in the twin, in order
    original: tuple[Span, ...]  # the same places in the answer
    version: str = "rules"  # or prompt and model


def apply(answer: str, edits: Sequence[Edit], kind: str, version: str = "rules") -> Twin:
    """The twin that these edits make. ValueError for edits that overlap, replace nothing, or leave the answer."""
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
