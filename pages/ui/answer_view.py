"""Show an answer with its claims marked, and the card of the selected claim beside it.

Selection happens in the browser; the server is asked for what only it has.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from attribution.errors import FetchFailed
from attribution.evidence.sources import safe_name
from attribution.fetching.sandbox import PICTURE_SECONDS, FileReader
from attribution.reports import answer, cards, html
from attribution.reports.cards import CardSettings
from attribution.reports.claim_rows import ClaimRow, claim_rows
from attribution.reports.html import Node, el
from attribution.reports.looks import QUIET, group_data, look, quiet_words
from attribution.reports.source_view import source_list, source_text
from attribution.review.citations import citation_lines
from attribution.review.quotations import quotations
from attribution.review.revision import Unsupported, revise
from attribution.types import BADGES, WEAK, Document, Page, Provenance, Report
from attribution.verdicts import agreeing
from pages.ui import state

if TYPE_CHECKING:
    from streamlit.components.v2.bidi_component.state import ComponentResult

View = dict[str, Any]  # what the component of the answer draws
_STATIC = Path(__file__).parent / "static"
_NOTE = re.compile(r"^\[\^\D*(\d+)\]: ", re.MULTILINE)
_SCRIPTS = ("source.js", "groups.js", "panel.js", "check.js")


def _read(*names: str) -> str:
    return "".join((_STATIC / name).read_text("utf-8") for name in names)


_answer = st.components.v2.component(
    "attribution.answer",
    html='<div class="root"></div>',
    css=html.VERDICTS_CSS
    + (html.STATIC / "answer.css").read_text("utf-8")
    + _read("source.css", "check.css"),
    js=html.NODES_JS + _read(*_SCRIPTS),
)

_source = st.components.v2.component(
    "attribution.source",
    html='<div class="root"></div>',
    css=html.VERDICTS_CSS + _read("source.css"),
    js=html.NODES_JS + _read("source.js", "source_mount.js"),
)


def view(
    report: Report,
    *,
    run: str,
    running: bool,
    editable: bool = False,
    provenance: Provenance | None = None,
) -> View:
    """Return the data of the component.

    Args:
        report: The run, as far as it has come.
        run: The key of the run in this session.
        running: The run is in progress.
        editable: Add the controls that change the run.
        provenance: How the pages of a finished run were found.
    """
    cited = {} if running else citation_lines(report)
    settings = CardSettings(
        is_editable=editable,
        is_running=running,
        provenance=provenance,
        quotations=() if running else quotations(report),
        citations=cited,
    )
    rows = list(claim_rows(report, "pending" if running else "not_reached"))
    tree = answer.mark(answer.parse(report.answer), report.claims)
    placed = answer.marked(tree)
    claims = {row.claim.id: _claim(row, row.claim.id in cited) for row in rows}
    return {
        "run": run,
        "running": running,
        "editable": editable,
        "tree": [html.data(node) for node in tree],
        "loose": [claim.id for claim in report.claims if claim.id not in placed],
        "claims": claims,
        "panels": {row.claim.id: html.data(cards.panel(row, report, settings)) for row in rows},
        "head": _head(rows, len(cited)),
        "order": BADGES,
        "first": "" if running else _first(report, rows),
        "empty": html.data(_hint(rows, running)),
        "sources": html.data(source_list(report)),
        "source": None,
        "revised": None,
    }


def _claim(row: ClaimRow, has_citation: bool) -> View:
    style = look(row.badge)
    model = row.verdict.label if row.verdict else None
    return {
        "n": row.number,
        "text": row.claim.text,
        "label": row.badge.removeprefix(WEAK),
        "group": row.group,
        "icon": style.icon,
        "word": style.word.lower(),
        "own": row.own.label if row.own else None,
        "note": row.note,
        "judgeable": agreeing(model) is not None,
        "agreed": agreeing(model),
        "edited": row.is_edited,
        "cites": has_citation,
    }


def _head(rows: list[ClaimRow], cited: int) -> View:
    """Return the groups with their counts, and how many claims are reviewed."""
    return {
        "groups": group_data(row.badge for row in rows),
        "quiet": quiet_words(row.badge for row in rows),
        "cites": cited,
        "done": sum(row.own is not None for row in rows),
        "total": sum(row.group != QUIET for row in rows),
        "progress": None,
    }


def _hint(rows: list[ClaimRow], running: bool) -> Node:
    """Draw the panel while no claim is selected."""
    title, words = "Select a claim", "Its verdict and the sentence that decides stand here."
    if running:
        title, words = "Checking", "Verdicts appear as they are found."
    elif all(row.badge == "not_checked" for row in rows):
        title = "There is nothing to check in this answer."
        words = "Sources can confirm facts: names, numbers, dates, events."
    return el("div", el("h3", title), el("p", words), class_="hint")


def _first(report: Report, rows: list[ClaimRow]) -> str:
    """Return the claim to show first: the one edited last, or else the worst."""
    ids = [row.claim.id for row in rows]
    for edit in reversed(report.edits[-1:]):
        edited = [claim_id for claim_id in edit.claims if claim_id in ids]
        if edited:
            return edited[0]
    worst = min(rows, key=lambda row: BADGES.index(row.badge), default=None)
    return worst.claim.id if worst else ""


def with_revision(data: View, report: Report, unsupported: Unsupported) -> View:
    """Add the revised answer, with what becomes of sentences without a source."""
    text = revise(report, unsupported)
    listed = _NOTE.sub(r"\1. ", text)  # footnotes as a list
    tree = el("div", *answer.parse(listed), class_="revised", dir="auto")
    revised = {"tree": html.data(tree), "text": text, "unsupported": unsupported}
    return data | {"revised": revised}


def opened(data: View, report: Report, click: object) -> View:
    """Add the source that a click asks for to the data of the component."""
    place = requested_place(report, click)
    if place is None:
        return data
    page, at = place
    source = source_text(report, page, (at[0], at[1]))
    return data | {"source": source | {"asked": [page.id, *at]}}


def answer_view(data: View, *, key: str) -> ComponentResult:
    """Draw the component. Its result names what was clicked: `open` a page and place to show,
    `edit` a change or a step, `judge` the analyst's verdicts, `tab` what stands beside the answer.
    """

    def ignore() -> None:  # without a callback Streamlit reports no click
        pass

    return _answer(
        data=[data],  # not a dict, for which Streamlit would import pandas first
        key=key,
        default={"tab": "claim"},
        on_tab_change=ignore,
        on_open_change=ignore,
        on_edit_change=ignore,
        on_judge_change=ignore,
    )


def requested_place(report: Report, click: object) -> tuple[Page, list[int]] | None:
    """Return the page and offsets of a click; None if there is no such place in the run."""
    if not isinstance(click, Mapping):
        return None
    try:
        page = next(p for p in report.pages if p.id == click["page"])
        place = [int(n) for n in click["at"]]
    except (TypeError, KeyError, ValueError, OverflowError, StopIteration):
        return None
    return (page, place) if len(place) == 2 and page.text else None


def source_view(page: Page, place: Sequence[int], *, key: str) -> None:
    """Draw the text of a page, scrolled to the passage."""
    size = len(page.text)
    first, last = sorted(min(max(0, int(n)), size) for n in place)
    marks = [{"at": [first, last], "claims": []}] if first < last else []
    data = {"page": page.id, "text": page.text, "at": first, "breaks": page.breaks, "marks": marks}
    _source(data=data, key=key)


# --- pages of a PDF as pictures ---


PICTURE = "page_picture"
KEPT = 200_000_000  # bytes of PDF files in memory, for pictures of their pages
_pdfs: OrderedDict[tuple[str, str], Document] = OrderedDict()  # by run and page; latest last
_lock = threading.Lock()


def keep_pdf(run_id: str, page: Page, documents: Sequence[Document]) -> None:
    """Keep the PDF that a page was read from: a run itself keeps only its text."""
    file = next((d for d in documents if page.url == f"document:{safe_name(d.name)}"), None)
    if file is None or not page.breaks or not file.content.startswith(b"%PDF-"):
        return
    with _lock:
        _pdfs[run_id, page.id] = file
        _pdfs.move_to_end((run_id, page.id))
        while sum(len(one.content) for one in _pdfs.values()) > KEPT:
            _pdfs.popitem(last=False)


def kept_pdf(run_id: str, page: Page) -> Document | None:
    """Return the PDF that a page was read from, if it is still in memory; a copy has none."""
    with _lock:
        return _pdfs.get((run_id, page.id))


def pictured(data: View, report: Report, click: object) -> View:
    """Add to an opened source its page number in a PDF whose file is at hand, and the picture that
    a click asks for.
    """
    source = data.get("source")
    if not source or not isinstance(click, Mapping):
        return data
    page = next(p for p in report.pages if p.id == source["page"])
    file, number = kept_pdf(report.id, page), page.page_number(source["at"])
    if file is None or number is None:
        return data
    added: View = {"number": number}
    if click.get("picture"):
        sentence = _on_page(page, number, source)
        added["picture"] = state.cached(
            PICTURE, (report.id, page.id, number, sentence), lambda: _drawn(file, number, sentence)
        )
        added["asked"] = [*source["asked"], "picture"]
    return data | {"source": source | added}


def _on_page(page: Page, number: int, source: View) -> str:
    """Return the opened sentence as far as it stands on this page."""
    marks = (mark["at"] for mark in source["marks"])
    start, end = next(
        ((a, b) for a, b in marks if a <= source["at"] < b), (source["at"], source["at"])
    )
    return page.text[start : min(end, *page.breaks[number : number + 1], len(page.text))]


def _drawn(file: Document, number: int, sentence: str) -> dict[str, object]:
    try:
        reading = FileReader(state.browser(), PICTURE_SECONDS)
        return asdict(reading.draw(file.content, file.name, number, sentence))
    except FetchFailed as error:
        return {"problem": f"{error}."}
