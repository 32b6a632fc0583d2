"""Read the pages of the sources that an answer cites from the run, the store or the web."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass

from attribution.errors import FetchFailed, StageFailure
from attribution.evidence.search import Budget
from attribution.fetching.fetcher import Fetcher
from attribution.review.crossref import OF_ONE_RECORD, CitedWork, look_up
from attribution.review.support import Outcome
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.identifiers import Identifier, identifiers
from attribution.text.marks import name_of
from attribution.text.references import AnswerSource
from attribution.text.urls import canonical
from attribution.types import Page

GONE = (404, 410)  # HTTP: nothing is there any more, or never was


@dataclass(frozen=True)
class Unread:
    """The reason for which a source could not be read."""

    outcome: Outcome
    reason: str


UNNAMED = Unread("unnamed", "The answer does not say which source this is.")
NOT_FOUND = Unread(
    "unreachable", "The answer gives no address for it, and no document of this run has its name."
)
NO_TEXT = Unread(
    "unreachable",
    "It is a document of this run, whose text is not in this database: use the one in which the run was made.",
)
NOT_ASKED = "The check was stopped before Crossref was asked about it."


def read_works(
    sources: Sequence[AnswerSource], settings: Settings, stop: threading.Event
) -> tuple[CitedWork, ...]:
    """Return the works that the sources name. Crossref is asked about `max_pages` of them, until it
    cannot answer.
    """
    named = [(source.key, found) for source in sources for found in _named(source)]
    works, unasked, asked = [], "", 0  # why no other DOI is asked for
    dois = sum(identifier.kind == "DOI" for _, identifier in named)
    for key, identifier in named:
        work = CitedWork(source=key, identifier=identifier)
        if identifier.kind == "DOI":
            if asked == settings.max_pages:
                left = f"the last {dois - asked} of {dois} works: a check asks about {asked}"
                unasked = unasked or f"Crossref was not asked about {left}."
            problem = unasked or (NOT_ASKED if stop.is_set() else "")
            asked += not problem
            try:
                work = work if problem else look_up(key, identifier, settings)
            except FetchFailed as error:
                problem = f"Crossref, which lists retractions, could not be asked: {error}."
                unasked = "" if error.kind in OF_ONE_RECORD else problem
            work = work.model_copy(update={"problem": problem}) if problem else work
        works.append(work)
    return tuple(works)


def _named(source: AnswerSource) -> tuple[Identifier, ...]:
    return identifiers(f"{source.text} {source.url} {source.key}")


def _address(source: AnswerSource) -> str:
    """Return where a source can be read: its address, or that of its DOI, arXiv or PubMed number."""
    return source.url or next((found.url for found in _named(source) if found.kind != "ISBN"), "")


def known_page(source: AnswerSource, pages: Sequence[Page]) -> Page | None:
    """Find the page of a source among the run's pages, by its address, or by a document's title or
    file name.

    An article of the built-in library matches only by its own name, not by the pages that its facts
    are from.
    """
    if source.url:
        wanted = canonical(source.url)
        return next(
            (p for p in pages if wanted in (canonical(p.url), canonical(p.reference))), None
        )
    text = source.text.casefold()
    return next((p for p in pages if text and _is_named(p, text)), None)


def _is_named(page: Page, text: str) -> bool:
    title = page.title.casefold()
    if page.facts_from:
        return text.strip("'\"“”*_.,; ") == title or page.cited.casefold() in text
    if len(title) > 3 and (title in text or text in title):
        return True
    _, _, name = page.url.rpartition("/")[2].rpartition(
        ":"
    )  # document:NAME, library:FOLDER/NAME, collection:C/NAME
    name = name.casefold() if page.kind != "web" else ""
    if name and name_of(name) == name_of(text):
        return True
    return bool(name) and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def read_sources(
    sources: Sequence[AnswerSource],
    pages: Sequence[Page],
    settings: Settings,
    store: Store,
    stop: threading.Event,
) -> Iterator[tuple[AnswerSource, Page | Unread]]:
    """Yield each source with its page, or with the reason why it could not be read, as soon as this
    is known.

    Stops early if `stop` is set.
    """
    web = []
    for source in sources:
        addressed = source.model_copy(update={"url": _address(source)})
        page = known_page(source, pages) or known_page(addressed, pages)
        if page and page.text:
            yield source, page
        elif addressed.url:
            web.append(addressed)
        elif page:
            yield source, NO_TEXT
        else:
            yield source, NOT_FOUND if source.text else UNNAMED
    budget = Budget(settings)
    fetcher = Fetcher(settings)

    def fetch(source: AnswerSource) -> Page | Unread:
        try:
            page = store.cache.page(source.url, settings.page_days)
            if page is None:
                budget.spend("downloads", source.url)
                page = fetcher.fetch(source.url, store.cache.page(source.url))
                store.cache.put_pages([page])
            return page
        except StageFailure as error:
            gone = isinstance(error, FetchFailed) and error.status in GONE
            return Unread("dead" if gone else "unreachable", str(error))

    pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="cited")
    try:
        running = {pool.submit(fetch, source): source for source in web}
        while running and not stop.is_set():
            done, _ = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
