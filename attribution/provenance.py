"""Record how a run found its evidence: from each claim to its pages, with the data that a replay
needs.
"""

from __future__ import annotations

from dataclasses import dataclass

from attribution.types import Failure, Frozen, Span


@dataclass(frozen=True)
class Trace:
    """The search that found a page for a claim."""

    claim_id: str
    page_id: str
    query: str
    searcher: str
    rank: int


class Provenance(Frozen):
    """The data that a replay needs besides the report."""

    traces: tuple[Trace, ...] = ()
    concerns: dict[str, tuple[Failure, ...]] = {}  # claim id → failures that concern it
    chunks: dict[str, tuple[Span, ...]] = {}  # page id → its chunks, in characters of the page
    vectors: tuple[str, ...] = ()  # keys in the store
    judgements: tuple[str, ...] = ()  # keys in the store
