"""Search and download side by side, reported step by step."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from attribution.errors import FetchFailed, StageFailure, setup_error
from attribution.events import Spent
from attribution.evidence import GatherStep
from attribution.evidence.search import Budget, Search, queries, time_over
from attribution.evidence.sources import Sources
from attribution.fetching.page import partly_read
from attribution.network import HOST_CONNECTIONS
from attribution.searchers import Searcher
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.tables import Source
from attribution.text.urls import canonical, excluded, site
from attribution.types import Claim, Failure, Page, SearchHit, Trace

IDLE_SECONDS = 0.1  # without an event, after which an idle step is reported
Fetch = Callable[[str], Page]


@dataclass
class _Task:
    """A search or a download.

    Attributes:
        claim_ids: The claims that it is for.
        searcher: None for a download.
        query: The query of a search, or the URL of a download.
        hits: The search results with this URL, each with the claims that it was found for.
        pages: None while it is under way.
    """

    claim_ids: list[str]
    searcher: Searcher | None = None
    query: str = ""
    hits: tuple[tuple[SearchHit, Sequence[str]], ...] = ()
    pages: tuple[Page, ...] | None = None

    @property
    def stage(self) -> str:
        return "search" if self.searcher else "fetch"

    @property
    def host(self) -> str:
        """The engine or host that is asked, each of which takes only a few requests at once.

        Empty for this machine.
        """
        if self.searcher is None:
            return site(self.query)
        return "" if Source.of(self.searcher.name).is_local else self.searcher.name


@dataclass(frozen=True)
class _Outcome:
    """The result of a task."""

    hits: Sequence[SearchHit] = ()
    pages: Sequence[Page] = ()
    failures: Sequence[Failure] = ()


class LiveSources:
    """Search engines, collections, URLs and documents as they are now, within the run's budget."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        sources: Sources,
        fetch: Fetch,
    ) -> None:
        self._settings = settings
        self._store = store
        self._sources = sources
        self._fetch = fetch
        self.budget = Budget(settings)
        self._searches = 0
        self._search = Search(settings, store, self.budget, sources.fallback)

    def gather(
        self, claims: Sequence[Claim], question: str, stop: threading.Event
    ) -> Iterator[GatherStep]:
        """Yield steps in the order in which searches and downloads end.

        When the budget's time is up, everything still open ends at once, each task as a failure of
        its own.
        """
        everyone = tuple(claim.id for claim in claims)
        documents = tuple(self._sources.pages)
        if documents:
            yield GatherStep("fetch", 1, 1, everyone, documents)
        failures = tuple(self._sources.failures)
        if failures:  # of claims too if there is nothing else to read
            yield GatherStep("fetch", 1, 1, () if documents else everyone, failures=failures)
        self.budget.start()
        yield from self._run(self._first_tasks(claims, question), stop)

    def _run(self, tasks: Sequence[_Task], stop: threading.Event) -> Iterator[GatherStep]:
        queues = _HostQueues(self._do, self._settings)
        progress = _Progress(queues)
        for task in tasks:
            progress.start(task)
        try:
            while queues.left and not stop.is_set():
                ended = queues.abandon() if self.budget.over else queues.ended()
                for task, outcome in ended:
                    yield self._ended(progress, task, outcome)
                if not ended:
                    done, total = progress.done, progress.total
                    yield GatherStep("fetch", done, total, spent=self._spent(), idle=True)
            failures = list(progress.unusable())
            for searcher in self._sources.searchers:
                failures += getattr(searcher, "failures", ())
            if failures:
                yield GatherStep("search", progress.done, progress.total, failures=tuple(failures))
        finally:
            queues.close()

    def _ended(self, progress: _Progress, task: _Task, outcome: _Outcome) -> GatherStep:
        """Start the downloads that a finished task leads to, and return it as a step."""
        progress.done += 1
        if task.searcher:
            self._searches += 1
            progress.note_answer(task.searcher.name, outcome.failures)
        pages = list(outcome.pages)
        traces: list[Trace] = []
        for hit in outcome.hits:
            if hit.page is None:
                traces += progress.follow(hit, task.claim_ids)
            else:
                pages.append(hit.page)
                traces += _traces(task.claim_ids, [hit.page], hit)
        for hit, claim_ids in task.hits:
            traces += _traces(claim_ids, pages, hit)
        task.pages = tuple(pages)
        progress.open_tasks.subtract(task.claim_ids)
        return GatherStep(
            stage=task.stage,
            done=progress.done,
            total=progress.total,
            claim_ids=tuple(task.claim_ids),
            pages=task.pages,
            traces=tuple(traces),
            failures=tuple(outcome.failures),
            complete=tuple(c for c in task.claim_ids if not progress.open_tasks[c]),
            spent=self._spent(),
        )

    def _spent(self) -> Spent:
        return Spent(**self.budget.spent, seconds=self.budget.seconds, searches=self._searches)

    def _first_tasks(self, claims: Sequence[Claim], question: str) -> list[_Task]:
        tasks: list[_Task] = []
        claim_ids = [claim.id for claim in claims]
        for address in self._sources.addresses:
            hit = SearchHit(address, "", 1, "your sources", "")
            tasks.append(_Task([*claim_ids], query=address, hits=((hit, claim_ids),)))
        for searcher in self._sources.searchers:
            by_query: dict[str, _Task] = {}
            for claim in claims:
                for query in queries(claim, question, self._settings.query):
                    task = by_query.setdefault(query, _Task([], searcher, query))
                    task.claim_ids.append(claim.id)
            tasks += by_query.values()
        return tasks

    def _do(self, task: _Task) -> _Outcome:
        try:
            if task.searcher:
                hits, notices = self._search.search(task.searcher, task.query)
                return _Outcome(hits=hits, failures=notices)
            page = self._page(task.query)
            return _Outcome(pages=[page], failures=partly_read(page, task.query))
        except StageFailure as error:
            return _Outcome(failures=[error.as_failure(task.stage, task.query)])
        except Exception as error:
            # a bug in an engine or extractor must cost one page, not the run
            cause = setup_error(error)
            if cause is not None:
                raise cause from error
            message = f"an internal error in the {task.stage} stage; the run continued without it"
            failure = StageFailure("stage_failed", message, task.query, detail=repr(error))
            return _Outcome(failures=[failure.as_failure(task.stage)])

    def _page(self, url: str) -> Page:
        page = self._store.cache.page(url, self._settings.page_days)
        if page is None:
            self.budget.spend("downloads", url)
            page = self._fetch(url)
            self._store.cache.put_pages([page])
        is_own = url in self._sources.addresses
        if page.reference and not is_own and excluded(page.reference, self._settings.exclude):
            raise FetchFailed(
                "excluded", f"it redirects to {page.reference[:200]}, which this run excludes", url
            )
        return page


def _traces(claim_ids: Sequence[str], pages: Sequence[Page], hit: SearchHit) -> list[Trace]:
    traces: list[Trace] = []
    for page in pages:
        for claim_id in claim_ids:
            traces.append(Trace(claim_id, page.id, hit.query, hit.searcher, hit.rank))
    return traces


@dataclass
class _Progress:
    """What a run has started, finished and failed to use.

    Attributes:
        open_tasks: Number of open tasks of each claim.
        downloads: By canonical URL.
        answered: Names of searchers that answered.
        unread: The first failure of each searcher that failed.
    """

    queues: _HostQueues
    open_tasks: Counter[str] = field(default_factory=Counter)
    downloads: dict[str, _Task] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    unread: dict[str, Failure] = field(default_factory=dict)
    done: int = 0

    @property
    def total(self) -> int:
        return self.done + self.queues.left

    def start(self, task: _Task) -> None:
        self.open_tasks.update(task.claim_ids)
        if not task.searcher:
            self.downloads[canonical(task.query)] = task
        self.queues.add(task)

    def note_answer(self, searcher: str, failures: Sequence[Failure]) -> None:
        refused = [failure for failure in failures if failure.kind != "fell_back"]
        if refused:
            self.unread.setdefault(searcher, refused[0])
        else:
            self.answered.add(searcher)

    def follow(self, hit: SearchHit, claim_ids: Sequence[str]) -> list[Trace]:
        """Have the page of a search result downloaded once, for all claims that found it.

        Returns:
            The way to a page that was downloaded before, for these claims.
        """
        same = self.downloads.get(canonical(hit.url))
        if same is None:
            self.start(_Task(list(claim_ids), query=hit.url, hits=((hit, claim_ids),)))
            return []
        if same.pages is not None:
            return _traces(claim_ids, same.pages, hit)
        same.hits += ((hit, claim_ids),)
        for claim_id in set(claim_ids) - set(same.claim_ids):
            same.claim_ids.append(claim_id)
            self.open_tasks[claim_id] += 1
        return []

    def unusable(self) -> Iterator[Failure]:
        """Yield a failure for each searcher that no search of the run could use."""
        for name, first in self.unread.items():
            if name not in self.answered:
                yield Failure(
                    stage="search",
                    subject=name,
                    kind="source_unread",
                    message=f"{name} could not be used for any claim: {first.message}",
                    detail=first.detail,
                )


Ended = list[tuple[_Task, _Outcome]]


class _HostQueues:
    """Tasks side by side, but only a few at one engine or host.

    Else a slow one could occupy all threads.
    """

    def __init__(self, do: Callable[[_Task], _Outcome], settings: Settings) -> None:
        self._do = do
        self._seconds = settings.max_seconds
        self._pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="gather")
        self._waiting: dict[str, deque[_Task]] = defaultdict(deque)
        self._running: dict[Future[_Outcome], _Task] = {}
        self._busy: Counter[str] = Counter()

    @property
    def left(self) -> int:
        return len(self._running) + sum(map(len, self._waiting.values()))

    def add(self, task: _Task) -> None:
        self._waiting[task.host].append(task)
        self._next(task.host)

    def _next(self, host: str) -> None:
        while self._waiting[host] and (not host or self._busy[host] < HOST_CONNECTIONS):
            task = self._waiting[host].popleft()
            self._busy[host] += 1
            self._running[self._pool.submit(self._do, task)] = task

    def ended(self) -> Ended:
        """Return the tasks that have ended, after waiting for at most IDLE_SECONDS."""
        futures, _ = wait(self._running, timeout=IDLE_SECONDS, return_when=FIRST_COMPLETED)
        ended: Ended = []
        for future in futures:
            task = self._running.pop(future)
            self._busy[task.host] -= 1
            self._next(task.host)
            ended.append((task, future.result()))
        return ended

    def abandon(self) -> Ended:
        """Return every open task as a failure, because the time is up.

        Running ones end by themselves; nobody reads them.
        """
        tasks = list(self._running.values())
        for queue in self._waiting.values():
            tasks += queue
        self._running.clear()
        self._waiting.clear()
        ended: Ended = []
        for task in tasks:
            failure = time_over(self._seconds, task.query).as_failure(task.stage)
            ended.append((task, _Outcome(failures=[failure])))
        return ended

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
