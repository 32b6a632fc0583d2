"""Download the pages of a run again, and show what has changed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attribution.pipeline import page_changes as snapshot
from attribution.pipeline.page_changes import PageChange
from attribution.reports import answer
from attribution.reports.html import Child, Node, el, plural, safe_url
from attribution.settings import Settings
from attribution.types import Page, Report
from pages.ui import background
from pages.ui.background import Work
from pages.ui.frame import show
from pages.ui.job_page import JobPage

WORDS = {"unchanged": "unchanged", "changed": "changed", "gone": "gone", "unread": "could not be read"}
ORDER = ("changed", "gone", "unread")


@dataclass(frozen=True)
class ChangesProgress(background.Progress):
    """The comparison of a run's pages at one moment."""

    run: str
    total: int
    changes: tuple[PageChange, ...] = ()

    def doing(self) -> str:
        return f"{len(self.changes)} of {plural(self.total, 'page')} compared …"

    def share(self) -> float:
        return len(self.changes) / self.total


JOB = JobPage[ChangesProgress]("page_changes", "comparison")


def work(compare: Callable[[threading.Event], Iterator[PageChange]]) -> Work[ChangesProgress]:
    """Download the pages again, and compare them."""

    def compare_pages(stop: threading.Event, update: Callable[..., ChangesProgress]) -> None:
        now = update()
        for change in compare(stop):
            now = update(changes=(*now.changes, change))

    return compare_pages


def page_changes(report: Report) -> None:
    """Draw the button, and what has changed."""
    web = report.model_copy(update={"pages": tuple(p for p in report.pages if p.kind == "web")})
    if not web.pages:
        return
    if (now := JOB.current()) and now.run != report.id:  # of another run
        JOB.stop()
        JOB.show(None)
    JOB.draw(partial(_buttons, web), lambda now: show(change_list(now.changes, {p.id: p for p in report.pages})))


def _buttons(report: Report, running: bool) -> None:
    start, stop = st.columns([3, 1])
    start.button(
        "Have these pages changed?", key="have_changed", disabled=running, on_click=_start, args=(report,),
        help=f"Downloads the {plural(len(report.pages), 'web page')} of this run again. The run does not change.",
    )  # fmt: skip
    if running:
        stop.button("Stop", key="stop_page_changes", on_click=JOB.stop, help="The pages read so far are kept.")


def _start(report: Report) -> None:
    def compare(stop: threading.Event) -> Iterator[PageChange]:
        return snapshot.changes(report, Settings.from_environment(), stop=stop)

    JOB.launch(ChangesProgress(report.id, len(report.pages)), work(compare))


def change_list(changes: Sequence[PageChange], pages: Mapping[str, Page]) -> Node:
    """Return a summary, then every page that differs, those that lost evidence first."""
    states = Counter[str](c.state for c in changes)
    counts = [f"{states[name]} {word}" for name, word in WORDS.items() if states[name]]
    lost = sum(bool(c.evidence_lost) for c in changes)
    quotes = f" Sentences quoted from {plural(lost, 'page')} are no longer there." if lost else ""
    others = sorted(
        (c for c in changes if c.state != "unchanged"), key=lambda c: (not c.evidence_lost, ORDER.index(c.state))
    )
    return el(
        "div",
        el("p", f"Of {plural(len(changes), 'page')}: {', '.join(counts)}.{quotes}") if changes else None,
        *(_page(c, pages.get(c.page_id)) for c in others),
        class_="ax-changes",
    )


def _page(change: PageChange, page: Page | None) -> Node:
    title = (page.title if page else "") or change.url
    word = WORDS[change.state]
    quotes, gone = len(change.evidence_kept) + len(change.evidence_lost), len(change.evidence_lost)
    if change.state == "changed" and quotes:
        word += (
            f"; {gone} of {plural(quotes, 'quoted sentence')} no longer there" if gone else "; all quotes still there"
        )
    link: Child = change.url
    if safe_url(change.url):
        link = el("a", change.url, href=change.url, target="_blank", rel="noopener noreferrer")
    differences = [el("li", *answer.shown(d.then, d.now), dir="auto") for d in change.differences]
    return el(
        "details",
        el("summary", el("strong", title, dir="auto"), f": {word}"),
        el("p", change.message, " ", link, class_="facts"),
        *(_quote("No longer there", text) for text in change.evidence_lost),
        *(_quote("Still there", text) for text in change.evidence_kept),
        el("ul", *differences, class_="diff") if differences else None,
    )


def _quote(word: str, text: str) -> Node:
    return el("p", el("strong", f"{word}: "), f"“{' '.join(text.split())}”", class_="quoted", dir="auto")
