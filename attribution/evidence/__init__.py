"""Claims → pages → evidence. A run draws its pages from an EvidenceSource."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from attribution.events import Spent
from attribution.types import Claim, Failure, Page, Trace


@dataclass(frozen=True)
class GatherStep:
    """One finished search or download.

    Attributes:
        stage: "search" or "fetch".
        done: The number of finished ones.
        total: The number of those that are known of.
        claim_ids: The claims that it was for.
        pages: What it brought.
        traces: How they were found.
        failures: What went wrong.
        complete: The claims that now have all their pages.
        spent: What the run has used so far.
        idle: The step says only that nothing has ended for a while, which is time for something
            else.
    """

    stage: str
    done: int
    total: int
    claim_ids: tuple[str, ...] = ()
    pages: tuple[Page, ...] = ()
    traces: tuple[Trace, ...] = ()
    failures: tuple[Failure, ...] = ()
    complete: tuple[str, ...] = ()
    spent: Spent = Spent()
    idle: bool = False


class EvidenceSource(Protocol):
    """The source of a run's pages, such as `gathering.LiveSources`."""

    def gather(
        self, claims: Sequence[Claim], question: str, stop: threading.Event
    ) -> Iterator[GatherStep]:
        """Yield pages for the claims, step by step.

        Args:
            claims: The claims to be checked.
            question: The question of the run; may be empty.
            stop: Ends it early once it is set.
        """
        ...
