"""Events that a run reports while it is under way. The pages and the command line read the same
events.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attribution.types import Claim, Evidence, Failure, Page, Report, Verdict

STAGES = {  # of a run, and parts of them that have times, costs or failures of their own
    "segment": "Finding claims",
    "worth": "Check-worthiness",
    "worthiness": "Check-worthiness",
    "independence": "Claims that need context",
    "enrichment": "Adding context",
    "coherence": "Coherence",
    "search": "Search",
    "fetch": "Reading pages",
    "gather": "Searching and reading pages",
    "embed": "Comparing passages",
    "verify": "Checking claims",
    "second": "Rechecking unclear claims",
    "load": "Loading models",
}


@dataclass(frozen=True)
class Queued:
    """The run waits for others on the same server, at a place from 1. Only if runs take turns,
    before RunStarted.
    """

    place: int


@dataclass(frozen=True)
class RunStarted:
    """The first event. From now on, the run is saved under this id, at first without a report."""

    run_id: str


@dataclass(frozen=True)
class StageStarted:
    stage: str


@dataclass(frozen=True)
class Progress:
    """`done` of `total` units of a stage: queries searched, pages fetched, claims verified."""

    stage: str
    done: int
    total: int


@dataclass(frozen=True)
class Spent:
    """Search and download so far; all but `searches` count against the run's budget."""

    queries: int = 0
    downloads: int = 0
    seconds: float = 0.0
    searches: int = 0  # of any source, the library and collections included


@dataclass(frozen=True)
class ClaimsReady:
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class PageReady:
    page: Page


@dataclass(frozen=True)
class VerdictReady:
    """Evidence and verdict of one claim; a later event for the same claim replaces it."""

    verdict: Verdict
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class Failed:
    failure: Failure


@dataclass(frozen=True)
class Finished:
    report: Report


Event = (
    Queued
    | RunStarted
    | StageStarted
    | Progress
    | Spent
    | ClaimsReady
    | PageReady
    | VerdictReady
    | Failed
    | Finished
)


def finished(steps: Iterable[Event]) -> Report:
    """Run all steps, and return the report of the last one."""
    *_, last = steps
    assert isinstance(last, Finished)
    return last.report
