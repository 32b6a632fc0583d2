"""Record how a run found its evidence: from each claim to its pages."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ConfigDict

from attribution.types import Failure, Frozen


@dataclass(frozen=True)
class Trace:
    """The search that found a page for a claim."""

    claim_id: str
    page_id: str
    query: str
    searcher: str
    rank: int


class Provenance(Frozen):
    """How the evidence of a run was found, beside its report."""

    model_config = ConfigDict(extra="ignore")  # runs saved before this version have more

    traces: tuple[Trace, ...] = ()
    concerns: dict[str, tuple[Failure, ...]] = {}  # claim id → failures that concern it
