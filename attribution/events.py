"""What a run says while it goes on. The page, the command line and batch runs read the same events."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.types import Claim, Evidence, Failure, Page, Report, Verdict

STAGES = ("segment", "worth", "search", "fetch", "embed", "verify")


@dataclass(frozen=True)
class StageStarted:
    stage: str


@dataclass(frozen=True)
class Progress:
    """`done` of `total` units of a stage: claims searched, pages fetched, chunks embedded, pairs verified."""

    stage: str
    done: int
    total: int


@dataclass(frozen=True)
class Spent:
    """What search and download have used of the run's budget so far."""

    queries: int
    downloads: int
    seconds: float


@dataclass(frozen=True)
class ClaimsReady:
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class PageReady:
    page: Page


@dataclass(frozen=True)
class VerdictReady:
    """Evidence and verdict of one claim; a later one for the same claim replaces it (more pages have come)."""

    verdict: Verdict
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class Failed:
    failure: Failure


@dataclass(frozen=True)
class Finished:
    report: Report


Event = StageStarted | Progress | Spent | ClaimsReady | PageReady | VerdictReady | Failed | Finished
