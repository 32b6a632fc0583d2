"""The headings, lead-in or caption above a claim: what it is about where it does not say so itself."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.text.passages import Passage, passages
from attribution.text.values import values
from attribution.types import Claim

MAX_CONTEXT = 160  # characters of a heading or lead-in


def add_context(claims: Sequence[Claim], answer: str) -> list[Claim]:
    """Return the claims with the `context` that stands above them in the answer, the nearest last."""
    above = [(passage.start, context) for passage, context in _contexts(passages(answer))]

    def context_of(claim: Claim) -> tuple[str, ...]:
        start = claim.spans[0][0] if claim.spans else -1
        return next((context for first, context in reversed(above) if first <= start), ())

    return [claim.model_copy(update={"context": context_of(claim)}) for claim in claims]


def _contexts(blocks: Sequence[Passage]) -> list[tuple[Passage, tuple[str, ...]]]:
    """Each passage with the headings above it, and the lead-in of its list or table."""
    found: list[tuple[Passage, tuple[str, ...]]] = []
    headings: list[str] = []
    lead = ""
    for before, block in zip([None, *blocks], blocks, strict=False):
        if block.kind == "heading":
            if before is None or before.kind != "heading":
                headings = headings[:1]  # a new section of the first heading
            headings.append(block.text[:MAX_CONTEXT])
            lead = ""
            continue
        found.append((block, (*headings[:1], *headings[1:][-1:], *((lead,) if lead else ()))))
        if block.kind == "text":
            lead = block.text[-MAX_CONTEXT:] if block.text.rstrip().endswith(":") else ""
    return found


def named_by_context(claim: Claim) -> str:
    """Return the context of a claim that holds no name itself, to be searched with it; empty for any other."""
    named = any(value.kind == "name" and claim.statement[: value.start].strip() for value in values(claim.statement))
    return "" if named else " ".join(part.rstrip(" :") for part in claim.context)
