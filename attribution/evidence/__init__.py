"""Claims → pages → evidence. A run draws its pages from an EvidenceSource."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from attribution.events import Spent
from attribution.types import Claim, Failure, LlmUsage, Page, Trace


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

    stage: str  # search or fetch
    done: int
    total: int
    claim_ids: tuple[str, ...] = ()
    pages: tuple[Page, ...] = ()
    traces: tuple[Trace, ...] = ()
    failures: tuple[Failure, ...] = ()
    complete: tuple[str, ...] = ()
    spent: Spent = Spent()  # so far
    idle: bool = False


class EvidenceSource(Protocol):
    """The source of a run's pages, such as `gathering.LiveSources`."""

    def gather(
        self, claims: Sequence[Claim], question: str, stop: threading.Event
    ) -> Iterator[GatherStep]:
        """Pages for the claims, step by step; ends early when `stop` is set."""
        ...
