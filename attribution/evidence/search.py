"""Search for a claim: its queries, and the next engine if one fails, within the budget."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from attribution.claims.context import named_by_context
from attribution.errors import SearchFailed, StageFailure
from attribution.searchers import Searcher, key_of
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.tables import Entry, Source
from attribution.text.urls import canonical, excluded
from attribution.types import Claim, Failure, SearchHit, content_id

# Nothing is built here: the name alone is the choice, so the entries have no target.
QUERIES = {
    "enriched": Entry(
        "", "The claim, standing alone", "adds the question or the heading when the claim needs it"
    ),
    "claim": Entry("", "The claim as written", "its own words alone"),
}


SPARE = 5  # extra results requested when some may be excluded


def queries(claim: Claim, question: str, choice: str) -> list[str]:
    """Return the queries for a claim.

    Args:
        claim: The claim.
        question: The question of the run; may be empty.
        choice: One of QUERIES.

    Returns:
        One query, or a second one with the question for a claim that depends on it.
    """
    if choice == "claim":
        return [claim.statement]
    own = f"{named_by_context(claim)} {claim.statement}".strip()
    if claim.independent or not question:
        return [own]
    return [own, f"{question} {claim.statement}"]


class Budget:
    """The limits of a run's use of the web, counted before each query and download; thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._limits = {"queries": settings.max_queries, "downloads": settings.max_pages}
        self._seconds = settings.max_seconds
        self._lock = threading.Lock()
        self.spent = {"queries": 0, "downloads": 0}
        self.start()

    def start(self) -> None:
        """Start the clock."""
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """The seconds since the clock was started."""
        return time.monotonic() - self._started

    @property
    def over(self) -> bool:
        return self.seconds >= self._seconds

    def spend(self, what: str, subject: str) -> None:
        """Count one query or download.

        Raises:
            StageFailure: None is left (budget_spent).
        """
        with self._lock:
            if self.over:
                raise time_over(self._seconds, subject)
            if self.spent[what] >= self._limits[what]:
                setting = "max_queries" if what == "queries" else "max_pages"
                raise _exhausted(f"{self._limits[what]:,} {what}", setting, subject)
            self.spent[what] += 1


def time_over(seconds: float, subject: str) -> StageFailure:
    """Return the failure of a task that was still open when the time was up."""
    return _exhausted(f"{seconds:g} seconds of search and download", "max_seconds", subject)


def _exhausted(what: str, setting: str, subject: str) -> StageFailure:
    message = (
        f"the budget of this run ({what}) is used up; raise {setting} or check a shorter answer"
    )
    return StageFailure("budget_spent", message, subject)


class Search:
    """The engines of one run. An engine that is down is asked once, not once for each claim."""

    def __init__(
        self, settings: Settings, store: Store, budget: Budget, fallback: Sequence[Searcher]
    ) -> None:
        self._settings = settings
        self._store = store
        self._budget = budget
        self._fallback = list(fallback)
        self._down: dict[str, SearchFailed] = {}

    def search(self, searcher: Searcher, query: str) -> tuple[list[SearchHit], list[Failure]]:
        """Search with one engine, or with the next one if it fails.

        Returns:
            Hits with distinct URLs, without excluded sites, and a notice for every engine that
            failed.

        Raises:
            StageFailure: No engine could be used; it has the last one's reason.
        """
        if Source.of(searcher.name).is_local:
            return searcher.search(query, self._settings.pages_per_claim), []
        notices: list[Failure] = []
        engines = [searcher, *(e for e in self._fallback if e.name != searcher.name)]
        for number, engine in enumerate(engines, 1):
            try:
                return self._distinct(self._ask(engine, query)), notices
            except SearchFailed as error:
                self._down.setdefault(engine.name, error)
                if number == len(engines):
                    raise
                notices.append(_notice(engine.name, engines[number].name, error))
        return [], notices

    def _ask(self, engine: Searcher, query: str) -> list[SearchHit]:
        """Return the hits of one engine, from the cache if it was asked before."""
        k = self._settings.pages_per_claim + (SPARE if self._settings.exclude else 0)
        key = content_id(key_of(engine), query, str(k))
        hits = self._store.cache.search(key, self._settings.page_days)
        if hits is not None:
            return hits
        down = self._down.get(engine.name)
        if down:
            raise SearchFailed(down.kind, str(down), down.subject)
        self._budget.spend("queries", query)
        hits = engine.search(query, k)
        self._store.cache.put("search", {key: hits})
        return hits

    def _distinct(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
        by_url: dict[str, SearchHit] = {}
        for hit in hits:
            if not excluded(hit.url, self._settings.exclude):
                by_url.setdefault(canonical(hit.url), hit)
        return list(by_url.values())[: self._settings.pages_per_claim]


def _notice(engine: str, following: str, error: SearchFailed) -> Failure:
    return Failure(
        stage="search",
        subject=engine,
        kind="fell_back",
        message=f"{engine} failed, so {following} was asked instead: {error}",
        instead=following,
        detail=error.detail,
    )
