"""Search for a claim: its queries, and the next engine if one fails, within the budget."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from attribution.claims.context import named_by_context
from attribution.errors import SearchFailed, StageFailure
from attribution.searchers import Searcher, key_of
from attribution.settings import Settings
from attribution.source import Source
from attribution.store.store import Store
from attribution.tables import Entry
from attribution.text.urls import canonical, excluded
from attribution.types import Claim, Failure, SearchHit

# Nothing is built here: the name alone is the choice, so the entries have no target.
QUERIES = {
    "enriched": Entry(
        "", "The claim, standing alone", "adds the question or the heading when the claim needs it"
    ),
    "claim": Entry("", "The claim as written", "its own words alone"),
    "with_question": Entry("", "Question and claim", "always both together"),
}


def queries(claim: Claim, question: str, choice: str) -> list[str]:
    """Return one or two queries."""
    if choice == "claim":
        return [claim.statement]
    context = named_by_context(claim)
    own = f"{context} {claim.statement}" if context else claim.statement
    together = f"{question} {claim.statement}"
    if choice == "with_question" and question:
        return [together]
    return [own, *([together] if question and not claim.independent else [])]


SPARE = 5  # extra results requested when some may be excluded


class Budget:
    """The limits of a run's use of the web, counted before each query and download; thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._limits = {"queries": settings.max_queries, "downloads": settings.max_pages}
        self._seconds = settings.max_seconds
        self._lock = threading.Lock()
        self.spent = {"queries": 0, "downloads": 0}
        self._before = 0.0  # seconds until the clock was stopped
        self.start()

    def start(self) -> None:
        """Start the clock where it was stopped."""
        self._started = time.monotonic() - self._before

    def stop(self) -> None:
        """Stop the clock: what follows is no search or download."""
        self._before = self.seconds

    @property
    def seconds(self) -> float:
        """The seconds since the clock was started."""
        return time.monotonic() - self._started

    @property
    def over(self) -> bool:
        return self.seconds >= self._seconds

    def spend(self, what: str, subject: str) -> None:
        """Count one query or download. Raises StageFailure(budget_spent) if none is left."""
        with self._lock:
            if self.over:
                raise time_over(self._seconds, subject)
            if self.spent[what] >= self._limits[what]:
                name = "max_queries" if what == "queries" else "max_pages"
                raise _exhausted(f"{self._limits[what]:,} {what}", name, subject)
            self.spent[what] += 1


def time_over(seconds: float, subject: str) -> StageFailure:
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
        self._settings, self._store, self._budget, self._fallback = (
            settings,
            store,
            budget,
            tuple(fallback),
        )
        self._down: dict[str, SearchFailed] = {}

    def search(self, searcher: Searcher, query: str) -> tuple[list[SearchHit], list[Failure]]:
        """Return hits with distinct URLs, without excluded sites, and a notice for every engine
        that failed.

        Raises StageFailure with the last engine's reason if none could be used.
        """
        if Source.of(searcher.name).is_local:
            return searcher.search(query, self._settings.pages_per_claim), []
        engines = [searcher, *(e for e in self._fallback if e.name != searcher.name)]
        notices: list[Failure] = []
        for engine, following in zip(engines, [*engines[1:], None], strict=True):
            try:
                return self._distinct(self._ask(engine, query)), notices
            except SearchFailed as error:
                self._down.setdefault(engine.name, error)
                if following is None:
                    raise
                message = f"{engine.name} failed, so {following.name} was asked instead: {error}"
                notice = {"subject": engine.name, "instead": following.name, "detail": error.detail}
                notices.append(Failure(stage="search", kind="fell_back", message=message, **notice))
        raise AssertionError("there is always a first engine")

    def _ask(self, engine: Searcher, query: str) -> list[SearchHit]:
        k = self._settings.pages_per_claim + (SPARE if self._settings.exclude else 0)
        hits = self._store.cache.search(key_of(engine), query, k, self._settings.page_days)
        if hits is not None:
            return hits
        if down := self._down.get(engine.name):
            raise SearchFailed(down.kind, str(down), down.subject)
        self._budget.spend("queries", query)
        hits = engine.search(query, k)
        self._store.cache.put_search(key_of(engine), query, k, hits)
        return hits

    def _distinct(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
        by_url: dict[str, SearchHit] = {}
        for hit in hits:
            if not excluded(hit.url, self._settings.exclude):
                by_url.setdefault(canonical(hit.url), hit)
        return list(by_url.values())[: self._settings.pages_per_claim]
