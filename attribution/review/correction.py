"""Corrections: a wording of a claim that a passage supports, and the characters of the answer that
it changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attribution.text.markdown import escape_markdown
from attribution.text.passages import AnswerPassage, passages
from attribution.text.words import Diff
from attribution.types import Claim, Frozen, Span

_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*|[^\w\s]")


class Replacement(Frozen):
    """`answer[start:end] == before`; `after` is Markdown that takes its place."""

    start: int
    end: int
    before: str
    after: str


class Correction(Frozen):
    claim_id: str
    before: str  # the wording that was verified
    after: str
    edits: tuple[Replacement, ...]  # in the order of the answer; they do not overlap
    page_id: str  # of the passage that supports it
    sentence: Span  # the deciding sentence, in characters of the page
    quote: str  # the text of that sentence
    probability: float  # of support, by the run's verifier
    corrector: str  # version
    verifier: str  # version


def word_spans(text: str) -> list[Span]:
    """Return the spans of the words and punctuation marks of a text."""
    return [match.span() for match in _WORD.finditer(text)]


def changes(before: str, after: str) -> list[tuple[Span, Span]]:
    """Compare two texts word by word; return the differing word ranges as pairs, one range in each
    text.
    """
    old, new = ([text[a:b] for a, b in word_spans(text)] for text in (before, after))
    codes = Diff(old, new).get_opcodes()
    return [((a, b), (c, d)) for kind, a, b, c, d in codes if kind != "equal"]


def changed_words(before: str, after: str) -> int:
    """Count the words of the first text that are changed or removed; an insertion counts as one."""
    return sum(max(1, b - a) for (a, b), _ in changes(before, after))


def place(answer: str, claim: Claim, after: str) -> tuple[Replacement, ...]:
    """Return the edits that make the answer say `after` instead of the claim; empty if a changed
    word is not in it.

    Words added by enrichment are not in the answer. Edits that would change how the rest renders
    are not returned.
    """
    written = passages(answer)
    regions = [list(claim.spans)] + ([[claim.sentence]] if claim.sentence else [])
    for region in regions:
        for passage in written:
            found = _place(passage, region, claim.statement, after)
            if found and _reads_as_meant(answer, written, passage, found):
                return _edits(answer, found)
    return ()


_Found = tuple[
    Span, Span, str
]  # characters of the answer and of the passage, and their replacement


def _place(passage: AnswerPassage, region: Sequence[Span], before: str, after: str) -> list[_Found]:
    """Locate the changes in the passage; empty if a changed word is not in this passage or not in
    the region.
    """
    inside = [any(a <= p[0] and p[1] <= b for a, b in region) for p in passage.places]
    words = [(a, b) for a, b in word_spans(passage.text) if all(inside[a:b])]
    if not words:
        return []
    mine = [before[a:b].casefold() for a, b in word_spans(before)]
    theirs = [passage.text[a:b].casefold() for a, b in words]
    same = {
        block.a + i: block.b + i
        for block in Diff(mine, theirs).get_matching_blocks()
        for i in range(block.size)
    }
    new, old = word_spans(after), word_spans(before)
    found: list[_Found] = []
    for (a, b), (c, d) in changes(before, after):
        text = after[new[c][0] : new[d - 1][1]] if c < d else ""
        if a == b:  # an insertion: replace the word before it by that word and the new text
            a, text = (
                max(0, a - 1),
                f"{before[slice(*old[a - 1])]} {text}" if a else f"{text} {before[slice(*old[0])]}",
            )
            b = a + 1
        places = [same.get(i) for i in range(a, b)]
        if None in places or places != list(range(places[0] or 0, (places[0] or 0) + b - a)):
            return []
        start, end = words[places[0] or 0][0], words[places[-1] or 0][1]
        if not text:  # with the blank beside it
            end += passage.text[end : end + 1] == " "
            start -= end == len(passage.text) and passage.text[start - 1 : start] == " "
        found.append((passage.span(start, end), (start, end), text))
    return sorted(found)


def _edits(answer: str, found: Sequence[_Found]) -> tuple[Replacement, ...]:
    return tuple(
        Replacement(start=a, end=b, before=answer[a:b], after=escape_markdown(new))
        for (a, b), _, new in found
    )


def _reads_as_meant(
    answer: str, before: Sequence[AnswerPassage], changed: AnswerPassage, found: Sequence[_Found]
) -> bool:
    """Check that the edited answer renders with the new words and no other change."""
    text = changed.text
    for _, (start, end), new in reversed(found):
        text = text[:start] + new + text[end:]
    edited = apply(answer, _edits(answer, found))
    meant = [(p.kind, " ".join((text if p is changed else p.text).split())) for p in before]
    return [(p.kind, " ".join(p.text.split())) for p in passages(edited)] == meant


def apply(text: str, edits: Sequence[Replacement]) -> str:
    """Apply edits that do not overlap to the text."""
    return "".join(_pieces(text, sorted(edits, key=lambda e: (e.start, e.end))))


def _pieces(text: str, edits: Sequence[Replacement]) -> Iterator[str]:
    at = 0
    for edit in edits:
        yield text[at : edit.start]
        yield edit.after
        at = edit.end
    yield text[at:]
