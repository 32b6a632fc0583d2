"""Download the pages of a run again, and show what has changed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from attribution.reports import answer
from attribution.reports.html import Child, Node, el, plural, safe_url
from attribution.settings import Settings
from attribution.snapshots import page_changes as snapshot
from attribution.snapshots.page_changes import Change
from attribution.types import Page, Report
from pages.ui import background, state
from pages.ui.frame import note, show

POLL = 0.5  # seconds between looks at the job
JOB = "page_changes"
WORDS = {"unchanged": "unchanged", "changed": "changed", "gone": "gone", "unread": "could not be read"}
ORDER = ("changed", "gone", "unread")
Compare = Callable[[Report, threading.Event], Iterator[Change]]


def _compare(report: Report, stop: threading.Event) -> Iterator[Change]:
    yield from snapshot.changes(report, Settings.from_environment(), stop=stop)


@dataclass(frozen=True)
class Progress(background.Progress):
    changes: tuple[Change, ...] = ()


class PageChangesJob(background.Job[Progress]):
    """Fetches the web pages of a run again and compares them."""

    def __init__(self, report: Report, compare: Compare) -> None:
        def work(stop: threading.Event, update: Callable[..., Progress]) -> None:
            now = update()
            for change in compare(report, stop):
                now = update(changes=(*now.changes, change))

        self.run = report.id
        super().__init__("page changes", Progress(), work)


def page_changes(report: Report) -> None:
    """Show the button, and what has changed."""
    web = report.model_copy(update={"pages": tuple(p for p in report.pages if p.kind == "web")})
    if not web.pages:
        return
    job = _job(report)
    running = job is not None and job.running
    st.fragment(_part, run_every=POLL if running else None)(web, running)


def _job(report: Report) -> PageChangesJob | None:
    job: PageChangesJob | None = state.get(JOB)
    return job if job is not None and job.run == report.id else None


def _part(report: Report, polling: bool) -> None:
    job = _job(report)
    now = job.progress() if job else None
    running = now is not None and now.running
    if polling and not running:
        st.rerun()
    start, stop = st.columns([3, 1])
    if start.button(
        "Have these pages changed?",
        key="have_changed",
        disabled=running,
        help=f"Fetches the {plural(len(report.pages), 'web page')} of this run again. The run itself stays as it is.",
    ):
        if earlier := state.get(JOB):
            earlier.stop()
        state.put(JOB, PageChangesJob(report, _compare))
        st.rerun()
    if job is None or now is None:
        return
    if running and stop.button("Stop", key="stop_page_changes", help="End the check; pages that were read stay."):
        job.stop()
    if running:
        line = f"{len(now.changes)} of {plural(len(report.pages), 'page')} compared …"
        show(el("p", line, class_="ax-quiet-inline", role="status"))
    elif now.error:
        note("The comparison ended early", now.error, detail=now.detail)
    show(change_list(now.changes, {p.id: p for p in report.pages}))


def change_list(changes: Sequence[Change], pages: Mapping[str, Page]) -> Node:
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


def _page(change: Change, page: Page | None) -> Node:
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
