"""Has a page changed since a run read it, and in which sentences? Pages are fetched again only when this is asked."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from attribution.chunkers.sentence import sentences
from attribution.errors import StageFailure
from attribution.fetching import fetch
from attribution.settings import Settings
from attribution.types import Frozen, Page, Report

LIMIT = 2_000  # characters of one sentence that are compared
SHOWN = 200  # sentences of a difference
GONE = ("404", "410")


class Change(Frozen):
    """One page then and now. `gone`: the server says so; `unread`: it could not be looked at, which proves nothing."""

    page_id: str
    url: str
    state: Literal["unchanged", "changed", "gone", "unread"]
    message: str = ""
    removed: tuple[str, ...] = ()  # sentences of then
    added: tuple[str, ...] = ()  # sentences of now
    evidence_lost: tuple[str, ...] = ()  # deciding sentences that the page no longer has


def changes(report: Report, settings: Settings, fetch: Callable[[str, Settings], Page] = fetch) -> Iterator[Change]:
    """Each page of a run with its texts, in their order. The store's copies are neither asked nor replaced."""

    def look(page: Page) -> Change:
        if page.kind != "web":
            return Change(page_id=page.id, url=page.url, state="unread", message="It is no page of the web.")
        try:
            now = fetch(page.url, settings)
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
    old, new = _sentences(then.text), _sentences(now.text)
    removed, added = [], []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += old[a:b]
            added += new[c:d]
    flat = " ".join(now.text.split())
    deciding = (then.text[slice(*e.sentence)] for e in report.evidence if e.page_id == then.id)
    lost = dict.fromkeys(s for s in deciding if " ".join(s.split()) not in flat)
    return Change(
        page_id=then.id,
        url=then.url,
        state="changed",
        message=f"{len(removed)} sentences removed, {len(added)} added.",
        removed=tuple(removed[:SHOWN]),
        added=tuple(added[:SHOWN]),
        evidence_lost=tuple(lost),
    )


def _sentences(text: str) -> list[str]:
    return [text[a:b] for a, b in sentences(text, LIMIT)]
