"""Read the pages of the sources that an answer cites from the run, the store or the web."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from markdown_it.common.utils import unescapeAll

from attribution.errors import FetchFailed, StageFailure
from attribution.evidence.search import Budget
from attribution.fetching.fetcher import Fetcher
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.marks import name_of
from attribution.text.references import AnswerSource, without_end
from attribution.text.urls import canonical
from attribution.types import Page

GONE = (404, 410)  # HTTP: nothing is there any more, or never was
Problem = Literal["dead", "unreachable", "unnamed"]
NUMBERS = {
    # not into the address of a link
    "DOI": re.compile(r"(?<![\w.])(10\.\d{4,9}/(?:(?!\]\()[^\s\"<>{}|\\^`])+)"),
    "arXiv": re.compile(
        r"""
        \barxiv(?: \.org/(?:abs|pdf|html)/ | :\s? )
        ( \d{4}\.\d{4,5} | [a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7} )(?!\d)
        """,
        re.IGNORECASE | re.VERBOSE,
    ),
    "PubMed": re.compile(
        r"""
        \b(?: PMID:?\s? | pubmed\.ncbi\.nlm\.nih\.gov/ | ncbi\.nlm\.nih\.gov/pubmed/ )
        ( \d{1,8} )(?!\d)
        """,
        re.IGNORECASE | re.VERBOSE,
    ),
}
RESOLVERS = {
    "DOI": "https://doi.org/",
    "arXiv": "https://arxiv.org/abs/",
    "PubMed": "https://pubmed.ncbi.nlm.nih.gov/",
}
# The rest of an address with a DOI
AFTER_DOI = re.compile(r"(?:/(?:full|abstract|pdf|epub)|\.pdf)?(?:[?#].*)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Unread:
    """The reason why a source could not be read."""

    outcome: Problem
    reason: str


UNNAMED = Unread("unnamed", "The answer doesn't say which source this is.")
NOT_FOUND = Unread(
    "unreachable", "The answer gives no address for it, and no document of this run has its name."
)
NO_TEXT = Unread("unreachable", "It is a document of this run, whose text is not in this database.")


def read_sources(
    sources: Sequence[AnswerSource],
    pages: Sequence[Page],
    settings: Settings,
    store: Store,
) -> Iterator[tuple[AnswerSource, Page | Unread]]:
    """Read cited sources: pages of the run as they are, others from the web.

    Args:
        pages: The pages of the run. One without a text is returned as it is.

    Yields:
        Each source with its page, or with the reason why it could not be read, as soon as it is
        known.
    """
    to_fetch: list[AnswerSource] = []
    for source in sources:
        addressed = source.model_copy(update={"url": _address(source)})
        page = known_page(source, pages) or known_page(addressed, pages)
        if page and (page.text or not addressed.url):
            yield source, page
        elif addressed.url:
            to_fetch.append(addressed)
        else:
            yield source, NOT_FOUND if source.text else UNNAMED
    reader = _WebReader(settings, store)
    with ThreadPoolExecutor(settings.workers, thread_name_prefix="cited") as pool:
        running = {pool.submit(reader.read, source.url): source for source in to_fetch}
        for future in as_completed(running):
            yield running[future], future.result()


class _WebReader:
    """Reads pages from the cache, or fetches them within the budget of a run."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._budget = Budget(settings)
        self._fetcher = Fetcher(settings)
        self._cache = store.cache
        self._days = settings.page_days

    def read(self, url: str) -> Page | Unread:
        page = self._cache.page(url, self._days)
        if page is not None:
            return page
        try:
            self._budget.spend("downloads", url)
            page = self._fetcher.fetch(url)
        except StageFailure as error:
            is_gone = isinstance(error, FetchFailed) and error.status in GONE
            return Unread("dead" if is_gone else "unreachable", str(error))
        self._cache.put_pages([page])
        return page


def _address(source: AnswerSource) -> str:
    """Return a source's address, or that of its DOI, arXiv or PubMed number."""
    return source.url or resolver_address(f"{source.text} {source.key}")


def resolver_address(text: str) -> str:
    """Return where the first DOI, arXiv or PubMed number of a text leads, or ""."""
    text = unescapeAll(text)
    for kind, pattern in NUMBERS.items():
        match = pattern.search(text)
        if match:
            number = without_end(AFTER_DOI.sub("", match[1]))
            return RESOLVERS[kind] + quote(number, safe="/")
    return ""


def known_page(source: AnswerSource, pages: Sequence[Page]) -> Page | None:
    """Find a source's page in the run, by its address, or by a document's title or file name.

    An article of the built-in library matches only by its own name, not by the pages that its facts
    are from.
    """
    if source.url:
        wanted = canonical(source.url)
        for page in pages:
            if wanted in (canonical(page.url), canonical(page.reference)):
                return page
        return None
    text = source.text.casefold()
    return next((page for page in pages if text and _is_named(page, text)), None)


def _is_named(page: Page, text: str) -> bool:
    title = page.title.casefold()
    if page.facts_from:
        return text.strip("'\"“”*_.,; ") == title or page.cited.casefold() in text
    if len(title) > 3 and (title in text or text in title):
        return True
    if page.kind == "web":
        return False
    # document:NAME, library:FOLDER/NAME, collection:COLLECTION/NAME
    name = re.split(r"[/:]", page.url)[-1].casefold()
    if not name:
        return False
    if name_of(name) == name_of(text):
        return True
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None
