"""The headings, lead-in or caption above a claim: what it is about where it does not say so itself."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.text.passages import Passage, passages
from attribution.text.values import values
from attribution.types import Claim

MAX_LEVEL = 7  # of headings without signs
MAX_CONTEXT = 160  # characters of a heading or lead-in


def add_context(claims: Sequence[Claim], answer: str) -> list[Claim]:
    """Return the claims with the `context` that stands above them in the answer, the nearest last."""
    above = [(passage.start, context) for passage, context in _contexts(answer)]

    def context_of(claim: Claim) -> tuple[str, ...]:
        start = claim.spans[0][0] if claim.spans else -1
        return next((context for first, context in reversed(above) if first <= start), ())

    return [claim.model_copy(update={"context": context_of(claim)}) for claim in claims]


def _contexts(answer: str) -> list[tuple[Passage, tuple[str, ...]]]:
    """Each passage with the first and the nearest of the headings that it stands under, and the lead-in of its list."""
    found: list[tuple[Passage, tuple[str, ...]]] = []
    headings: list[tuple[int, str]] = []  # levels and texts, outermost first
    lead = ""
    for block in passages(answer):
        if block.kind == "heading":
            level = _level(answer, block.start)
            headings = [h for h in headings if h[0] < level] + [(level, block.text[:MAX_CONTEXT])]
            lead = ""
            continue
        above = [text for _, text in headings]
        found.append((block, (*above[:1], *above[1:][-1:], *((lead,) if lead else ()))))
        if block.kind == "text":
            lead = block.text[-MAX_CONTEXT:] if block.text.rstrip().endswith(":") else ""
    return found


def _level(answer: str, start: int) -> int:
    """The number of signs before a heading; more than any for a bold or underlined one."""
    marks = answer[answer.rfind("\n", 0, start) + 1 : start].strip(" *_")
    return len(marks) if marks and not marks.strip("#") else MAX_LEVEL


def named_by_context(claim: Claim) -> str:
    """Return the context of a claim that holds no name itself, to be searched with it; empty for any other."""
    named = any(value.kind == "name" and claim.statement[: value.start].strip() for value in values(claim.statement))
    return "" if named else " ".join(part.rstrip(" :") for part in claim.context)
