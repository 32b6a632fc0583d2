"""Which claims a mark stands on."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Sequence

from attribution.citations.listed import Listed
from attribution.citations.marks import Mark
from attribution.types import Claim, Span


def attach(answer: str, marks: Sequence[Mark], claims: Sequence[Claim], lists: Listed) -> dict[str, tuple[int, ...]]:
    """By claim, the marks that stand on it, as places in `marks`; claims without one are left out.

    A mark belongs to the sentence it stands in or right after; one that opens a paragraph belongs to the sentence that
    follows. Within a sentence it stands on the claims that end between the mark before it and itself; where none does,
    on all of the sentence.
    """
    sentences: dict[Span, list[Claim]] = {}
    for claim in claims:
        if claim.spans and not lists.holds(claim.spans[0][0]):
            sentences.setdefault(_sentence(claim), []).append(claim)
    bare = _without(answer, marks)
    ordered = sorted(sentences)
    of_sentence: dict[Span, list[int]] = {}
    for number, mark in enumerate(marks):
        if (sentence := _sentence_of(mark, ordered, answer, bare)) is not None:
            of_sentence.setdefault(sentence, []).append(number)
    standing: dict[str, list[int]] = {}
    for sentence, numbers in of_sentence.items():
        before = sentence[0]
        for group in _groups(numbers, marks, bare):
            first, last = marks[group[0]], marks[group[-1]]
            within = [c for c in sentences[sentence] if _ends_at(c, before, first.start, bare)]
            for claim in within or sentences[sentence]:
                standing.setdefault(claim.id, []).extend(group)
            before = last.end
    return {claim_id: tuple(dict.fromkeys(numbers)) for claim_id, numbers in standing.items()}


def _extent(claim: Claim) -> Span:
    return min(start for start, _ in claim.spans), max(end for _, end in claim.spans)


def _sentence(claim: Claim) -> Span:
    return claim.sentence or _extent(claim)


def _without(answer: str, marks: Sequence[Mark]) -> str:
    """The answer with blanks in place of its marks, as long as before."""
    text = list(answer)
    for mark in marks:
        if mark.form != "link":  # its words are the sentence's
            text[mark.start : mark.end] = " " * (mark.end - mark.start)
    return "".join(text)


def _silent(text: str) -> bool:
    return not any(map(str.isalnum, text))


def _parted(text: str) -> bool:
    """Whether another paragraph begins in it."""
    return "\n\n" in text.replace("\r\n", "\n").replace(" ", "")


def _sentence_of(mark: Mark, sentences: Sequence[Span], answer: str, bare: str) -> Span | None:
    following = bisect_right(sentences, (mark.start, sys.maxsize))
    if following:
        _, end = nearest = sentences[following - 1]
        between = answer[end : mark.start]
        if mark.start < end or (_silent(bare[end : mark.start]) and not _parted(between)):
            return nearest
    if following < len(sentences):
        nearest = sentences[following]
        if _silent(bare[mark.end : nearest[0]]) and not _parted(answer[mark.end : nearest[0]]):
            return nearest
    return None


def _groups(numbers: Sequence[int], marks: Sequence[Mark], bare: str) -> list[list[int]]:
    """Marks with nothing said between them, together."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and _silent(bare[marks[groups[-1][-1]].end : marks[number].start]):
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _ends_at(claim: Claim, before: int, mark: int, bare: str) -> bool:
    """Whether the claim ends after the mark before, and says nothing beyond this mark."""
    _, end = _extent(claim)
    return end > before and not _silent(bare[before:end]) and (end <= mark or _silent(bare[mark:end]))
