"""Has a page changed since a run read it, and where? Pages are fetched again only when this is asked."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from attribution.errors import StageFailure
from attribution.settings import Settings
from attribution.text.sentences import sentences
from attribution.types import Frozen, Page, Report
from attribution.web.fetcher import Fetcher

LIMIT = 2_000  # characters of one sentence that are compared
COMPARED = 5_000  # sentences of a page that are compared: the time grows with their square
SHOWN, LONGEST = 200, 1_500  # differences of a page; characters of one side of each
GONE = ("404", "410")


class Difference(Frozen):
    """Neighbouring sentences that are not the same in two readings; an empty side: nothing stood there."""

    then: str
    now: str


class Change(Frozen):
    """One page then and now. `gone`: the server says so; `unread`: it could not be looked at, which proves nothing."""

    page_id: str
    url: str
    state: Literal["unchanged", "changed", "gone", "unread"]
    message: str = ""
    differences: tuple[Difference, ...] = ()
    evidence_kept: tuple[str, ...] = ()  # deciding sentences of a changed page that still stand there
    evidence_lost: tuple[str, ...] = ()  # and those that it no longer has


def changes(
    report: Report,
    settings: Settings,
    fetch: Callable[[str], Page] | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Change]:
    """Each page of a run with its texts, in their order. The store's copies are neither asked nor replaced.

    As polite as a run: robots.txt and pauses hold, and one fetcher knows whose turn it is.
    """
    get = fetch or Fetcher(settings).fetch

    def look(page: Page) -> Change:
        if page.kind != "web":
            return Change(page_id=page.id, url=page.url, state="unread", message="It is no page of the web.")
        if stop is not None and stop.is_set():
            return Change(page_id=page.id, url=page.url, state="unread", message="It was not looked at any more.")
        try:
            now = get(page.url)
        except StageFailure as failure:
            message = str(failure)
            gone = failure.kind == "http_error" and any(f"HTTP {code}" in message for code in GONE)
            return Change(page_id=page.id, url=page.url, state="gone" if gone else "unread", message=message)
        return compare(page, now, report)

    with ThreadPoolExecutor(settings.workers, thread_name_prefix="changes") as pool:
        yield from pool.map(look, report.pages)


def compare(then: Page, now: Page, report: Report) -> Change:
    """The difference of two readings of one page, sentence by sentence."""
    if then.sha256 == now.sha256:
        return Change(page_id=then.id, url=then.url, state="unchanged")
    if not then.text:
        message = "Its text is another one, but the one of then was not kept, so nothing can be set beside it."
        return Change(page_id=then.id, url=then.url, state="changed", message=message)
    old, new = _sentences(then.text), _sentences(now.text)
    found = [
        Difference(then=_side(old[a:b]), now=_side(new[c:d]))
        for tag, a, b, c, d in difflib.SequenceMatcher(None, old[:COMPARED], new[:COMPARED]).get_opcodes()
        if tag != "equal"
    ]
    flat = " ".join(now.text.split())
    deciding = dict.fromkeys(then.text[slice(*e.sentence)] for e in report.evidence if e.page_id == then.id)
    there = {sentence: " ".join(sentence.split()) in flat for sentence in deciding}
    message = f"{len(found)} {'difference' if len(found) == 1 else 'differences'}"
    if max(len(old), len(new)) > COMPARED:
        message += f" in the first {COMPARED:,} sentences"
    return Change(
        page_id=then.id,
        url=then.url,
        state="changed",
        message=message + ("." if found else "; only spaces and line breaks." if old == new else "."),
        differences=tuple(found[:SHOWN]),
        evidence_kept=tuple(s for s, kept in there.items() if kept),
        evidence_lost=tuple(s for s, kept in there.items() if not kept),
    )


def _side(sentences: list[str]) -> str:
    text = " ".join(sentences)
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def _sentences(text: str) -> list[str]:
    return [" ".join(text[a:b].split()) for a, b in sentences(text, LIMIT)]
