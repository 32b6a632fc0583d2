"""How a run found its evidence: the way from each claim to its pages, and what a replay needs beyond the report."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.types import Failure, Frozen, Span


@dataclass(frozen=True)
class Trace:
    """How a page was found for a claim."""

    claim_id: str
    page_id: str
    query: str
    searcher: str
    rank: int


class Provenance(Frozen):
    """What a replay needs beyond the report."""

    traces: tuple[Trace, ...] = ()
    concerns: dict[str, tuple[Failure, ...]] = {}  # claim id → failures that concern it
    chunks: dict[str, tuple[Span, ...]] = {}  # page id → its chunks, in characters of the page
    vectors: tuple[str, ...] = ()  # keys in the store
    judgements: tuple[str, ...] = ()  # keys in the store
