"""The pages of cited sources: from the run, from the store, or fetched."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial

from attribution.citations.listed import Source
from attribution.errors import StageFailure
from attribution.evidence.search import Budget
from attribution.settings import Settings
from attribution.storage import http_responses
from attribution.storage.store import Store
from attribution.text.urls import canonical
from attribution.types import Page
from attribution.web.fetcher import Fetcher

UNNAMED = "The answer does not say which source this is."
NOT_FOUND = "The answer gives no address for it, and no document of this run has its name."


def known_page(source: Source, pages: Sequence[Page]) -> Page | None:
    """The page of a source among those that the run has read: by its address, or by a document's title or file name.

    An article of the built-in library is none of the pages that its facts are from: only its own name names it.
    """
    if source.url:
        wanted = canonical(source.url)
        return next((p for p in pages if p.text and wanted in (canonical(p.url), canonical(p.reference))), None)
    text = source.text.casefold()
    return next((p for p in pages if p.text and text and _is_named(p, text)), None)


def _is_named(page: Page, text: str) -> bool:
    title = page.title.casefold()
    if page.facts_from:
        return text.strip("'\"“”*_.,; ") == title or page.cited.casefold() in text
    if len(title) > 3 and (title in text or text in title):
        return True
    _, _, name = page.url.rpartition("/")[2].rpartition(":")  # document:NAME, library:FOLDER/NAME, collection:C/NAME
    name = name.casefold() if page.kind != "web" else ""
    return bool(name) and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def read_sources(
    sources: Sequence[Source], pages: Sequence[Page], settings: Settings, store: Store, stop: threading.Event
) -> Iterator[tuple[Source, Page | str]]:
    """Each source with its page, or with the reason why it could not be read; in the order in which they are known.

    Ends early when `stop` is set.
    """
    web = []
    for source in sources:
        if page := known_page(source, pages):
            yield source, page
        elif source.url:
            web.append(source)
        else:
            yield source, NOT_FOUND if source.text else UNNAMED
    budget = Budget(settings)
    fetcher = Fetcher(settings, archive=partial(http_responses.save, store))

    def fetch(source: Source) -> Page | str:
        try:
            page = store.page(source.url, settings.page_days)
            if page is None:
                budget.spend("downloads", source.url)
                page = fetcher.fetch(source.url, store.page(source.url))
                store.put_pages([page])
            return page
        except StageFailure as error:
            return str(error)

    pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="cited")
    try:
        running = {pool.submit(fetch, source): source for source in web}
        while running and not stop.is_set():
            done, _ = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
