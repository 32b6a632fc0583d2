"""Claims → pages → evidence. A run draws its pages from an EvidenceSource."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from attribution.events import Spent
from attribution.provenance import Trace
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Claim, Failure, Judgement, LlmUsage, Page


@dataclass(frozen=True)
class LlmRecord:
    """Prompts, models and costs by stage."""

    versions: Mapping[str, str] = field(default_factory=dict)
    usage: Mapping[str, LlmUsage] = field(default_factory=dict)


@dataclass(frozen=True)
class GatherStep:
    """One finished search or download, with the claims it was for and those that now have all their
    pages.

    An `idle` step says only that nothing has ended for a while, which is time for something else.
    """

    stage: str  # queries, search or fetch
    done: int
    total: int
    claim_ids: tuple[str, ...] = ()
    pages: tuple[Page, ...] = ()
    traces: tuple[Trace, ...] = ()
    failures: tuple[Failure, ...] = ()
    complete: tuple[str, ...] = ()
    spent: Spent = Spent()  # so far
    llm: LlmRecord = LlmRecord()
    idle: bool = False


@dataclass(frozen=True)
class PreparedClaims:
    """Claims that are segmented and annotated already."""

    claims: tuple[Claim, ...]
    failures: tuple[Failure, ...] = ()
    llm: LlmRecord = LlmRecord()


class EvidenceSource(Protocol):
    """The source of a run's pages: `gathering.LiveSources`, or the snapshot of an earlier run."""

    @property
    def judgements(self) -> Mapping[str, Judgement]:
        """Judgements that the source carries, by key; they count as made in this run."""
        ...

    def over(self, store: Store) -> Store:
        """The store that a run over this source reads from and saves to."""
        ...

    def claims(self, question: str, answer: str, settings: Settings) -> PreparedClaims | None:
        """The claims of this answer, if the source has them for these settings."""
        ...

    def gather(
        self, claims: Sequence[Claim], question: str, stop: threading.Event
    ) -> Iterator[GatherStep]:
        """Pages for the claims, step by step; ends early when `stop` is set."""
        ...
