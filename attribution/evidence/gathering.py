"""Search and download side by side: claims → pages, told step by step as they come."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from attribution.errors import FetchFailed, StageFailure
from attribution.evidence.queries import queries
from attribution.evidence.search import Budget, Search, time_over
from attribution.evidence.sources import Sources
from attribution.searchers import Searcher, is_local
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.text.urls import canonical, excluded, site
from attribution.types import Claim, Failure, Page, SearchHit, Trace


@dataclass(frozen=True)
class Step:
    """One finished search or download, with the claims it was for and those now complete."""

    stage: str  # search or fetch
    done: int
    total: int
    claim_ids: tuple[str, ...]
    pages: tuple[Page, ...] = ()
    traces: tuple[Trace, ...] = ()
    failures: tuple[Failure, ...] = ()
    complete: tuple[str, ...] = ()


@dataclass
class _Task:
    claim_ids: list[str]
    searcher: Searcher | None = None  # None: a download
    query: str = ""
    hits: tuple[SearchHit, ...] = ()  # what pointed at the address
    pages: tuple[Page, ...] | None = None  # None: still to come

    @property
    def stage(self) -> str:
        return "search" if self.searcher else "fetch"

    @property
    def at(self) -> str:
        """Who is asked: an engine or a host takes only so many questions at once; empty for what lies here."""
        if self.searcher:
            return "" if is_local(self.searcher.name) else self.searcher.name
        return site(self.query)


Fetch = Callable[[str, Page | None], Page]
_Outcome = tuple[list[SearchHit], list[Page], list[Failure]]


class Gatherer:
    """Pages for the claims, from all sources, within the run's budget."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        sources: Sources,
        fetch: Fetch,
        written: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`written` are queries by claim id that take the place of those the settings stand for."""
        self.settings, self.store, self.sources, self._fetch = settings, store, sources, fetch
        self._written = written or {}
        self.budget = Budget(settings)
        self._search = Search(settings, store, self.budget, sources.fallback)

    def gather(self, claims: Sequence[Claim], question: str, stop: threading.Event) -> Iterator[Step]:
        """Steps as searches and downloads end, in no fixed order; ends early when `stop` is set.

        What is left when the budget's time is over ends at once, each as a failure of its own.
        """
        left = dict.fromkeys((c.id for c in claims), 0)
        by_url: dict[str, _Task] = {}
        turns = _Turns(self._do, self.settings)
        done = 0

        def start(task: _Task) -> None:
            for claim_id in task.claim_ids:
                left[claim_id] += 1
            if not task.searcher:
                by_url[canonical(task.query)] = task
            turns.add(task)

        for task in self._first(claims, question):
            start(task)
        try:
            while turns.left and not stop.is_set():
                for task, (hits, pages, failures) in turns.rest() if self.budget.over else turns.ready():
                    done += 1
                    late: list[Trace] = []
                    for hit in hits:
                        known = by_url.get(canonical(hit.url))
                        if hit.page is not None:
                            pages.append(hit.page)
                        elif known is None:
                            start(_Task(list(task.claim_ids), query=hit.url, hits=(hit,)))
                        elif known.pages is None:  # still on its way
                            known.hits += (hit,)
                            for claim_id in set(task.claim_ids) - set(known.claim_ids):
                                known.claim_ids.append(claim_id)
                                left[claim_id] += 1
                        else:
                            late += [
                                Trace(c, p.id, hit.query, hit.searcher, hit.rank)
                                for p in known.pages
                                for c in task.claim_ids
                            ]
                    task.pages = tuple(pages)
                    for claim_id in task.claim_ids:
                        left[claim_id] -= 1
                    yield Step(
                        task.stage,
                        done,
                        done + turns.left,
                        tuple(task.claim_ids),
                        tuple(pages),
                        (*self._traces(task, hits, pages), *late),
                        tuple(failures),
                        tuple(c for c in task.claim_ids if not left[c]),
                    )
        finally:
            turns.close()

    def _first(self, claims: Sequence[Claim], question: str) -> list[_Task]:
        everyone = [c.id for c in claims]
        tasks = [_Task(everyone[:], query=address) for address in self.sources.addresses]
        for searcher in self.sources.searchers:
            by_query: dict[str, _Task] = {}
            for claim in claims:
                for query in self._written.get(claim.id) or queries(claim, question, self.settings.query):
                    by_query.setdefault(query, _Task([], searcher, query)).claim_ids.append(claim.id)
            tasks += by_query.values()
        return tasks

    def _traces(self, task: _Task, hits: Sequence[SearchHit], pages: Sequence[Page]) -> tuple[Trace, ...]:
        if task.searcher:
            return tuple(
                Trace(c, h.page.id, h.query, h.searcher, h.rank)
                for h in hits
                if h.page is not None
                for c in task.claim_ids
            )
        sources = task.hits or (SearchHit(task.query, "", 1, "your sources", ""),)
        return tuple(
            Trace(c, p.id, h.query, h.searcher, h.rank) for p in pages for h in sources for c in task.claim_ids
        )

    def _do(self, task: _Task) -> _Outcome:
        try:
            if task.searcher:
                hits, notices = self._search.search(task.searcher, task.query)
                return hits, [], notices
            return [], [self._page(task.query)], []
        except StageFailure as error:
            return [], [], [error.as_failure(task.stage, task.query)]
        except Exception as error:  # a bug in an engine or extractor must cost one page, not the run
            message = f"an internal error in the {task.stage} stage; the run went on without it"
            failure = StageFailure("stage_failed", message, task.query, detail=repr(error))
            return [], [], [failure.as_failure(task.stage)]

    def _page(self, url: str) -> Page:
        page = self.store.page(url, self.settings.page_days)
        if page is None:
            self.budget.spend("downloads", url)
            page = self._fetch(url, self.store.page(url))
            self.store.put_pages([page])
        if page.reference and url not in self.sources.addresses and excluded(page.reference, self.settings.exclude):
            raise FetchFailed("excluded", f"it leads to {page.reference[:200]}, which is excluded from this run", url)
        return page


class _Turns:
    """Tasks side by side, but only a few at one engine or host: a slow one cannot take all threads."""

    def __init__(self, do: Callable[[_Task], _Outcome], settings: Settings) -> None:
        self._do = do
        self._seconds = settings.max_seconds
        self._most = settings.host_connections
        self._pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="gather")
        self._waiting: dict[str, deque[_Task]] = defaultdict(deque)
        self._running: dict[Future[_Outcome], _Task] = {}
        self._busy: Counter[str] = Counter()

    @property
    def left(self) -> int:
        return len(self._running) + sum(map(len, self._waiting.values()))

    def add(self, task: _Task) -> None:
        self._waiting[task.at].append(task)
        self._next(task.at)

    def _next(self, at: str) -> None:
        while self._waiting[at] and (not at or self._busy[at] < self._most):
            task = self._waiting[at].popleft()
            self._busy[at] += 1
            self._running[self._pool.submit(self._do, task)] = task

    def ready(self) -> Iterator[tuple[_Task, _Outcome]]:
        """The tasks that have ended, within a tenth of a second."""
        ended, _ = wait(self._running, timeout=0.1, return_when=FIRST_COMPLETED)
        for future in ended:
            task = self._running.pop(future)
            self._busy[task.at] -= 1
            self._next(task.at)
            yield task, future.result()

    def rest(self) -> Iterator[tuple[_Task, _Outcome]]:
        """All that is left, as failures: the time is over. What is under way ends by itself, unheard."""
        tasks = [*self._running.values(), *(t for queue in self._waiting.values() for t in queue)]
        self._running.clear()
        self._waiting.clear()
        for task in tasks:
            yield task, ([], [], [time_over(self._seconds, task.query).as_failure(task.stage)])

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
