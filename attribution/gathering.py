"""Search and download side by side: claims → pages, told step by step as they come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from attribution.errors import SearchFailed, StageFailure
from attribution.searchers import Searcher
from attribution.settings import Settings
from attribution.sources import Sources
from attribution.store import Store
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

    @property
    def stage(self) -> str:
        return "search" if self.searcher else "fetch"


Fetch = Callable[[str, Settings], Page]


class Gatherer:
    """Pages for the claims, from all sources. One engine that is down is asked once, not once a claim."""

    def __init__(self, settings: Settings, store: Store, sources: Sources, fetch: Fetch) -> None:
        self.settings, self.store, self.sources, self._fetch = settings, store, sources, fetch
        self._down: dict[str, Failure] = {}

    def gather(self, claims: Sequence[Claim], question: str, stop: threading.Event) -> Iterator[Step]:
        """Steps as searches and downloads end, in no fixed order; ends early when `stop` is set."""
        tasks = self._first(claims, question)
        open_tasks = {c.id: 0 for c in claims}
        by_url: dict[str, _Task] = {t.query: t for t in tasks if not t.searcher}
        pool = ThreadPoolExecutor(self.settings.workers, thread_name_prefix="gather")
        try:
            running: dict[Future[tuple[list[SearchHit], list[Page], list[Failure]]], _Task] = {}

            def start(task: _Task) -> None:
                running[pool.submit(self._do, task)] = task
                for claim_id in task.claim_ids:
                    open_tasks[claim_id] += 1

            for task in tasks:
                start(task)
            done = 0
            while running and not stop.is_set():
                ready, _ = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in ready:
                    task = running.pop(future)
                    hits, pages, failures = future.result()
                    done += 1
                    for hit in hits:
                        known = by_url.get(hit.url)
                        if hit.page is not None:
                            pages.append(hit.page)
                        elif known is None:
                            by_url[hit.url] = _Task(list(task.claim_ids), query=hit.url, hits=(hit,))
                            start(by_url[hit.url])
                        elif known in running.values():
                            known.hits += (hit,)
                            for claim_id in set(task.claim_ids) - set(known.claim_ids):
                                known.claim_ids.append(claim_id)
                                open_tasks[claim_id] += 1
                    for claim_id in task.claim_ids:
                        open_tasks[claim_id] -= 1
                    complete = tuple(c for c in task.claim_ids if not open_tasks[c])
                    yield Step(
                        task.stage,
                        done,
                        done + len(running),
                        tuple(task.claim_ids),
                        tuple(pages),
                        self._traces(task, hits, pages),
                        tuple(failures),
                        complete,
                    )
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _first(self, claims: Sequence[Claim], question: str) -> list[_Task]:
        everyone = [c.id for c in claims]
        tasks = [_Task(everyone[:], query=address) for address in self.sources.addresses]
        for searcher in self.sources.searchers:
            by_query: dict[str, _Task] = {}
            for claim in claims:
                # a claim that leans on its context is looked for together with the question as well
                for query in (
                    claim.statement,
                    *([f"{question} {claim.statement}"] if question and not claim.independent else []),
                ):
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

    def _do(self, task: _Task) -> tuple[list[SearchHit], list[Page], list[Failure]]:
        try:
            if task.searcher:
                return self._search(task.searcher, task.query), [], []
            return [], [self._page(task.query)], []
        except StageFailure as error:
            failure = error.as_failure(task.stage, task.query)
            if isinstance(error, SearchFailed) and task.searcher:
                self._down[task.searcher.name] = failure
            return [], [], [failure]
        except Exception as error:  # a bug in an engine or extractor must cost one page, not the run
            message = f"{type(error).__name__} in the {task.stage} stage: {error}; the run went on without it"
            return [], [], [Failure(stage=task.stage, subject=task.query, kind="stage_failed", message=message)]

    def _search(self, searcher: Searcher, query: str) -> list[SearchHit]:
        k, days = self.settings.pages_per_claim, self.settings.page_days
        if searcher.name in self._down:
            raise SearchFailed(
                self._down[searcher.name].kind, self._down[searcher.name].message, self._down[searcher.name].subject
            )
        local = searcher.name == "library"
        hits = None if local else self.store.search(searcher.name, query, k, days)
        if hits is None:
            hits = searcher.search(query, k)
            if not local:
                self.store.put_search(searcher.name, query, k, hits)
        return hits

    def _page(self, url: str) -> Page:
        page = self.store.page(url, self.settings.page_days)
        if page is None:
            page = self._fetch(url, self.settings)
            self.store.put_pages([page])
        return page
