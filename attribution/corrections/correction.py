"""A correction: a wording of a claim that a passage supports, and the characters of the answer that it changes."""

from __future__ import annotations

import re

from attribution.text.diff import Diff
from attribution.types import Frozen, Span

_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*|[^\w\s]")


class Edit(Frozen):
    """`answer[start:end] == before`; `after` is Markdown that takes its place."""

    start: int
    end: int
    before: str
    after: str


class Correction(Frozen):
    claim_id: str
    before: str  # the wording that was verified
    after: str
    edits: tuple[Edit, ...]  # in the order of the answer; they do not overlap
    page_id: str  # of the passage that supports it
    sentence: Span  # the deciding sentence, in characters of the page
    quote: str  # the text of that sentence
    probability: float  # of support, by the run's verifier
    corrector: str  # version
    verifier: str  # version


def word_spans(text: str) -> list[Span]:
    """The words and marks of a text."""
    return [match.span() for match in _WORD.finditer(text)]


def changes(before: str, after: str) -> list[tuple[Span, Span]]:
    """What differs between two texts, word by word: pairs of ranges of the words of both."""
    old, new = ([text[a:b] for a, b in word_spans(text)] for text in (before, after))
    codes = Diff(old, new).get_opcodes()
    return [((a, b), (c, d)) for kind, a, b, c, d in codes if kind != "equal"]


def changed_words(before: str, after: str) -> int:
    """How many words of the first text are changed or removed; an insertion counts as one."""
    return sum(max(1, b - a) for (a, b), _ in changes(before, after))
