"""Have a run's pages changed since? Fetched again when asked, shown page by page beside what was quoted from them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from attribution.settings import Settings
from attribution.snapshots.page_changes import Change, changes
from attribution.types import Page, Report
from pages.ui import background, state
from pages.ui.html import diff
from pages.ui.html.render import Child, Node, el, html, plural, safe_url

KEPT = "changes"
POLL = 0.5  # seconds between looks at what is under way
WORDS = {"unchanged": "same", "changed": "changed", "gone": "gone", "unread": "could not be looked at"}
ORDER = ("changed", "gone", "unread")
Look = Callable[[Report, threading.Event], Iterator[Change]]


def _look(report: Report, stop: threading.Event) -> Iterator[Change]:
    yield from changes(report, Settings.from_environment(), stop=stop)


@dataclass(frozen=True)
class Progress(background.Progress):
    found: tuple[Change, ...] = ()


class Looking(background.Worker[Progress]):
    """One look at the web pages of a run."""

    def __init__(self, report: Report, look: Look) -> None:
        def work(stop: threading.Event, tell: Callable[..., Progress]) -> None:
            now = tell()
            for change in look(report, stop):
                now = tell(found=(*now.found, change))

        self.run = report.id
        super().__init__("changes", Progress(), work)


def changed(report: Report) -> None:
    """The button, and what it has found."""
    web = report.model_copy(update={"pages": tuple(p for p in report.pages if p.kind == "web")})
    if not web.pages:
        return
    held: Looking | None = state.kept(KEPT)
    running = held is not None and held.run == report.id and held.running
    st.fragment(_part, run_every=POLL if running else None)(web, running)


def _part(report: Report, polling: bool) -> None:
    held: Looking | None = state.kept(KEPT)
    own = held if held is not None and held.run == report.id else None
    now = own.progress() if own else None
    running = now is not None and now.running
    if polling and not running:
        st.rerun()
    asked, stop = st.columns([3, 1])
    if asked.button(
        "Have these pages changed?",
        key="have_changed",
        disabled=running,
        help=f"Fetches the {plural(len(report.pages), 'web page')} of this run again, as politely as a run does. "
        "The run itself stays as it is.",
    ):
        if held is not None:
            held.stop()
        state.keep(KEPT, Looking(report, _look))
        st.rerun()
    if own is None or now is None:
        return
    if running and stop.button("Stop looking", key="stop_looking"):
        own.stop()
    if running:
        line = f"Looked at {len(now.found)} of {plural(len(report.pages), 'page')} …"
        st.html(html(el("p", line, class_="ax-quiet-inline", role="status")))
    elif now.broken:
        st.html(html(el("p", f"The look ended early: {now.broken}", class_="ax-quiet-inline", role="status")))
    st.html(html(shown(now.found, {p.id: p for p in report.pages})))


def shown(found: Sequence[Change], pages: Mapping[str, Page]) -> Node:
    """A sentence for all, then every page that is not the same, those that lost evidence first."""
    by_state = Counter(c.state for c in found)
    counts = [f"{by_state[s]} {WORDS[s]}" for s in WORDS if by_state[s]]
    lost = sum(bool(c.evidence_lost) for c in found)
    ends = f" Sentences quoted from {plural(lost, 'page')} are no longer there." if lost else ""
    others = sorted(
        (c for c in found if c.state != "unchanged"), key=lambda c: (not c.evidence_lost, ORDER.index(c.state))
    )
    return el(
        "div",
        el("p", f"Of {plural(len(found), 'page')}: {', '.join(counts)}.{ends}") if found else None,
        *(_page(c, pages.get(c.page_id)) for c in others),
        class_="ax-changes",
    )


def _page(change: Change, page: Page | None) -> Node:
    title = (page.title if page else "") or change.url
    word = WORDS[change.state]
    if change.state == "changed":
        quoted = len(change.evidence_kept) + len(change.evidence_lost)
        if quoted:
            gone = len(change.evidence_lost)
            word += f"; {gone} of {plural(quoted, 'quoted sentence')} no longer there" if gone else "; all quotes there"
    link: Child = None
    if safe_url(change.url):
        link = el("a", change.url, href=change.url, target="_blank", rel="noopener noreferrer")
    return el(
        "details",
        el("summary", el("strong", title, dir="auto"), f": {word}"),
        el("p", change.message, " ", link or change.url, class_="facts"),
        *(_quote("No longer there", text) for text in change.evidence_lost),
        *(_quote("Still there", text) for text in change.evidence_kept),
        el(
            "ul",
            *(el("li", *diff.shown(d.then, d.now), dir="auto") for d in change.differences),
            class_="diff",
        )
        if change.differences
        else None,
    )


def _quote(word: str, text: str) -> Node:
    return el("p", el("strong", f"{word}: "), f"“{' '.join(text.split())}”", class_="quoted", dir="auto")
