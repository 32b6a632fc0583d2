"""A correction of a claim, and the characters of the answer that it changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attribution.text.markdown import escape_markdown
from attribution.text.passages import AnswerPassage, passages
from attribution.types import Claim, Frozen, Span


class Replacement(Frozen):
    """`answer[start:end] == before`; `after` is Markdown that takes its place."""

    start: int
    end: int
    before: str
    after: str


class Correction(Frozen):
    """A wording of a claim that its evidence supports."""

    claim_id: str
    before: str  # the wording that was verified
    after: str
    edits: tuple[Replacement, ...]  # in the order of the answer; they do not overlap
    page_id: str  # of the passage that it is taken from
    sentence: Span  # the deciding sentence, in characters of the page
    quote: str  # the text of that sentence
    probability: float  # of support, by the run's verifier
    verifier: str  # version


def place(answer: str, claim: Claim, before: str, after: str) -> Replacement | None:
    """Locate words of a claim in the answer, to be replaced by others.

    Returns:
        The edit; None if the words don't occur exactly once in the claim's part of the answer, or
        if the edited answer would not render with the new words and otherwise as before.
    """
    regions: list[Sequence[Span]] = [claim.spans]
    if claim.sentence:
        regions.append([claim.sentence])
    for region in regions:
        matches = [
            (passage, span)
            for passage in passages(answer)
            for span in _occurrences(passage, region, before)
        ]
        if len(matches) != 1:
            continue
        ((passage, span),) = matches
        start, end = passage.span(*span)
        edit = Replacement(
            start=start, end=end, before=answer[start:end], after=escape_markdown(after)
        )
        meant = passage.text[: span[0]] + after + passage.text[span[1] :]
        if _displayed(apply(answer, [edit])) == _displayed(answer, {passage: meant}):
            return edit
    return None


def _occurrences(passage: AnswerPassage, region: Sequence[Span], words: str) -> Iterator[Span]:
    """Yield where the words stand in a passage, within a region of the answer."""
    for match in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", passage.text):
        places = passage.places[slice(*match.span())]
        if any(start <= places[0][0] and places[-1][1] <= end for start, end in region):
            yield match.span()


def _displayed(
    answer: str, changed: dict[AnswerPassage, str] | None = None
) -> list[tuple[str, str]]:
    """Return the kinds and texts of the passages, some of them with another text."""
    texts = changed or {}
    return [(p.kind, " ".join(texts.get(p, p.text).split())) for p in passages(answer)]


def apply(text: str, edits: Sequence[Replacement]) -> str:
    """Apply edits that do not overlap to the text."""
    return "".join(_pieces(text, sorted(edits, key=lambda edit: (edit.start, edit.end))))


def _pieces(text: str, edits: Sequence[Replacement]) -> Iterator[str]:
    position = 0
    for edit in edits:
        yield text[position : edit.start]
        yield edit.after
        position = edit.end
    yield text[position:]
