"""Changes of a run's pages since it read them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from attribution.errors import FetchFailed, StageFailure
from attribution.fetching.fetcher import Fetcher
from attribution.settings import Settings
from attribution.text.sentences import sentences
from attribution.text.words import Diff
from attribution.types import Frozen, Page, Report

MAX_SENTENCE = 2_000  # characters
MAX_SENTENCES = 5_000  # of a page that are compared: the time grows with their square
MAX_DIFFERENCES, MAX_SIDE = 200, 1_500  # of a page; characters of one side of each
GONE = (404, 410)  # HTTP status


class Difference(Frozen):
    """Neighbouring sentences that differ between two versions of a page. One side may be empty."""

    then: str
    now: str


class PageChange(Frozen):
    """One page then and now. `gone`: the server says so; `unread`: it could not be fetched, which proves nothing."""

    page_id: str
    url: str
    state: Literal["unchanged", "changed", "gone", "unread"]
    message: str = ""
    differences: tuple[Difference, ...] = ()
    evidence_kept: tuple[str, ...] = ()  # deciding sentences that a changed page still has
    evidence_lost: tuple[str, ...] = ()  # and those that it no longer has


def changes(
    report: Report,
    settings: Settings,
    fetch: Callable[[str], Page] | None = None,
    stop: threading.Event | None = None,
) -> Iterator[PageChange]:
    """Fetch each page of a run again; the changes come in the order of the pages.

    The cache is neither read nor written. One fetcher keeps to robots.txt and its pauses for all pages.
    """
    get = fetch or Fetcher(settings).fetch

    def check(page: Page) -> PageChange:
        if page.kind != "web":
            return PageChange(page_id=page.id, url=page.url, state="unread", message="Not a web page.")
        if stop is not None and stop.is_set():
            return PageChange(page_id=page.id, url=page.url, state="unread", message="Stopped before it was fetched.")
        try:
            now = get(page.url)
        except StageFailure as failure:
            gone = isinstance(failure, FetchFailed) and failure.status in GONE
            return PageChange(page_id=page.id, url=page.url, state="gone" if gone else "unread", message=str(failure))
        return compare(page, now, report)

    with ThreadPoolExecutor(settings.workers, thread_name_prefix="changes") as pool:
        yield from pool.map(check, report.pages)


def compare(then: Page, now: Page, report: Report) -> PageChange:
    """The difference between two versions of a page, sentence by sentence."""
    if then.sha256 == now.sha256:
        return PageChange(page_id=then.id, url=then.url, state="unchanged")
    if not then.text:
        message = "The text has changed, but the earlier text was not saved, so the two cannot be compared."
        return PageChange(page_id=then.id, url=then.url, state="changed", message=message)
    old, new = _sentences(then.text), _sentences(now.text)
    differences = [
        Difference(then=_side(old[a:b]), now=_side(new[c:d]))
        for tag, a, b, c, d in Diff(old[:MAX_SENTENCES], new[:MAX_SENTENCES]).get_opcodes()
        if tag != "equal"
    ]
    flat = " ".join(now.text.split())
    deciding = dict.fromkeys(then.text[slice(*e.sentence)] for e in report.evidence if e.page_id == then.id)
    present = {sentence: " ".join(sentence.split()) in flat for sentence in deciding}
    message = f"{len(differences)} {'difference' if len(differences) == 1 else 'differences'}"
    if max(len(old), len(new)) > MAX_SENTENCES:
        message += f" in the first {MAX_SENTENCES:,} sentences"
    return PageChange(
        page_id=then.id, url=then.url, state="changed",
        message=message + ("." if differences else "; only spaces and line breaks." if old == new else "."),
        differences=tuple(differences[:MAX_DIFFERENCES]),
        evidence_kept=tuple(s for s, there in present.items() if there),
        evidence_lost=tuple(s for s, there in present.items() if not there),
    )  # fmt: skip


def _side(sentences: list[str]) -> str:
    text = " ".join(sentences)
    return text if len(text) <= MAX_SIDE else text[:MAX_SIDE] + " …"


def _sentences(text: str) -> list[str]:
    return [" ".join(text[a:b].split()) for a, b in sentences(text, MAX_SENTENCE)]
