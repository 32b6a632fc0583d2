"""Check an answer's own citations in the background, and show them in a table."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import streamlit as st

from attribution.evidence.permissions import of_saved_run
from attribution.evidence.sources import source_names
from attribution.reports.html import (
    Child,
    Node,
    as_sentence,
    badge,
    el,
    link_to_sentence,
    plural,
    safe_url,
    table,
)
from attribution.review import citations
from attribution.review.citation_marks import Cited, Mark, find
from attribution.review.citations import (
    Citation,
    CitationReport,
    CitedClaim,
    Outcome,
    Standing,
    Step,
    claims_id,
)
from attribution.settings import LIMITS, Settings
from attribution.types import Claim, Label, Report
from pages.ui import background, state
from pages.ui.frame import note, progress_bar, show, small, status_line
from pages.ui.state import saved, store

ARCHIVE = "https://web.archive.org/web/*/"  # every capture: the last one may be of the error
JOB = "citations_job"
POLL = 0.5  # seconds between looks at the job
DOING = {"read": "Reading sources", "judge": "Comparing them with the claims"}
LINK_WORDS = re.compile(r"\[++([^\[\]]++)\]++[(\[]")
OUTCOMES: dict[Outcome, tuple[Label, str]] = {
    "supported": ("supported", "Supported"),
    "contradicted": ("contradicted", "Contradicted"),
    "not_supported": ("no_relation", "Not supported"),
    "dead": ("missing", "Dead link"),
    "unreachable": ("missing", "Could not be read"),
    "unnamed": ("missing", "No source named"),
}
UNCITED: dict[Standing, tuple[Label, str]] = {
    "uncited_supported": ("unclear", "Not cited, supported elsewhere"),
    "uncited_unsupported": ("not_checked", "Not cited, not supported"),
}


@dataclass(frozen=True)
class CitationsProgress(background.JobProgress):
    """A check of the citations of one state of a run, named by `key`."""

    key: str = ""
    step: Step | None = None
    result: CitationReport | None = None


# --- the table ---


def result_view(result: CitationReport, report: Report) -> Node:
    """Draw the whole result."""
    heads = ("Mark", "Source", "Claim", "Result", "Passage or reason")
    summarised = el(
        "p",
        summary(result),
        class_="ax-quiet-inline",
        role="status",
    )
    rows = _rows(result, report)
    return el("div", summarised, table(heads, rows, class_="ax-table ax-citations"))


def summary(result: CitationReport) -> str:
    """State recall and precision with what they are shares of."""
    figures, parts = result.figures, []
    if figures.recall is not None:
        of = f"{figures.supported} of {plural(figures.claims, 'claim')}"
        parts.append(f"Supported by own citations: {of} (recall {figures.recall:.2f}).")
    if figures.precision is not None:
        of = f"{figures.useful} of {plural(figures.citations, 'citation')}"
        parts.append(f"Of use to a claim: {of} (precision {figures.precision:.2f}).")
    unread = sum(claim.standing == "cited_unreachable" for claim in result.claims)
    if unread:
        parts.append(f"Left out: {plural(unread, 'claim')} whose sources could not all be read.")
    if result.stopped:
        parts.append("The check was stopped early.")
    return " ".join(parts) or "No claim could be decided."


def _rows(result: CitationReport, report: Report) -> Iterator[list[Child]]:
    claims = {claim.id: (number, claim) for number, claim in enumerate(report.claims, 1)}
    for cited in result.claims:
        number, claim = claims[cited.claim_id]
        text = el(
            "span",
            el("strong", f"{number}. "),
            claim.statement,
            dir="auto",
        )
        own = [citation for citation in result.citations if citation.claim_id == claim.id]
        for citation in own:
            label, word = OUTCOMES[citation.outcome]
            marks = _marks(result, report, cited, citation.source)
            source = _source(citation, result)
            yield [marks, source, text, badge(label, word=word), _quote(citation)]
        if not own:
            yield _uncited(cited, claim, text)


def _uncited(cited: CitedClaim, claim: Claim, text: Node) -> list[Child]:
    label, word = UNCITED.get(cited.standing, ("missing", "Source not read"))
    return ["none", "", text, badge(label, word=word), ""]


def _quote(citation: Citation) -> Node:
    if citation.evidence is None:
        return el("span", as_sentence(citation.reason), dir="auto")
    sentence = " ".join(citation.evidence.deciding_sentence.split())
    return el("span", f"“{sentence}”", dir="auto")


def _marks(result: CitationReport, report: Report, cited: CitedClaim, source: str) -> str:
    """Return the marks of a claim that name the source, as they are written."""
    marks = [result.marks[place] for place in cited.marks]
    written = [_written(report, mark) for mark in marks if source in mark.sources]
    return ", ".join(dict.fromkeys(written))


def _written(report: Report, mark: Mark) -> str:
    """Return the mark as a reader of the answer sees it: of a link its words."""
    text = " ".join(report.answer[mark.start : mark.end].split())
    words = LINK_WORDS.match(text) if mark.form == "link" else None
    return (words[1] if words else text)[:40]


def _source(citation: Citation, result: CitationReport) -> Node | None:
    if citation.outcome == "unnamed":
        return None
    source = next(source for source in result.sources if source.key == citation.source)
    page = next((page for page in result.pages if page.id == citation.page_id), None)
    title = (page.title if page else "") or source.text or source.url or f"[{source.key}]"
    url = source.url or (page.url if page else "")
    if not safe_url(url):
        return el("span", title[:90], dir="auto")
    if citation.evidence:
        url = link_to_sentence(url, citation.evidence.deciding_sentence) or url
    link = _link(title[:90], url)
    if citation.outcome not in ("dead", "unreachable"):
        return link
    archived = _link("Archived copies", f"{ARCHIVE}{source.url}")
    return el("div", link, el("div", archived, class_="ax-detail"))


def _link(shown: str, url: str) -> Node:
    return el(
        "a",
        shown,
        href=url,
        target="_blank",
        rel="noopener noreferrer",
        dir="auto",
    )


# --- the panel ---


def citations_panel(report: Report) -> None:
    """Draw the marks of the answer, the button, and the result."""
    cited = find(report.answer, names=source_names(pages=report.pages))
    if not cited.marks:
        small("The answer cites no source.")
        return
    key = f"{report.id}-{claims_id(report)}"
    running = _progress(report, key).running
    st.fragment(_part, run_every=POLL if running else None)(report, key, cited, running)


def _progress(report: Report, key: str) -> CitationsProgress:
    """Return the progress of the job, or the saved result, which is looked up once."""
    job: background.Job[CitationsProgress] | None = state.get(JOB)
    now = job.progress() if job else None
    if now and now.key == key:
        return now

    def look_up() -> CitationReport | None:
        return saved(lambda database: citations.saved(report, database))[0]

    result = state.cached("citations_saved", key, look_up)
    return CitationsProgress(running=False, key=key, result=result)


def _part(report: Report, key: str, cited: Cited, polling: bool) -> None:
    now = _progress(report, key)
    if polling and not now.running:
        st.rerun()
    if now.running:
        _under_way(now)
        help = "End the check; what was found so far is kept."
        st.button(
            "Stop",
            key="stop_citations",
            on_click=state.get(JOB).stop,
            help=help,
        )
        return
    if now.error:
        title = "The citations could not be checked"
        note(
            title,
            now.error,
            label="contradicted",
            detail=now.detail,
        )
    if now.result:
        show(result_view(now.result, report))
    if store().rights.access(report.id).own:
        _start(report, key, cited, now.result)
    elif not now.result:
        small("They were not checked. The run is somebody else's: make a copy to check them.")


def _under_way(now: CitationsProgress) -> None:
    step = now.step or Step("read", 0, 0)
    done = f"{step.done} of {step.total}" if step.total else "…"
    status_line(f"{'Stopping … ' if now.stopping else ''}{DOING[step.stage]} {done}")
    half = step.done / step.total if step.total else 0
    progress_bar(half / 2 + (step.stage == "judge") / 2, "Progress of the check")


def _start(report: Report, key: str, cited: Cited, result: CitationReport | None) -> None:
    """Draw the button, and a box for sources that the answer does not name."""
    used = {name for mark in cited.marks for name in mark.sources}
    unnamed = [
        f"[{source.key}]"
        for source in cited.sources
        if source.key in used and not source.url and not source.text
    ]
    if not result:
        small("Each cited source is read, and compared with the claims that cite it.")
    listed = ""
    if unnamed:
        listed = st.text_area(
            f"The answer does not say what these are: {', '.join(unnamed[:8])}",
            result.listed if result else "",
            key="citations_listed",
            height=80,
            placeholder="[1] https://…",
            help="Paste the list of sources, a line each. It is used for this check only.",
            max_chars=LIMITS.text,
        )
    label = "Check again" if result else f"Check {plural(len(cited.marks), 'citation mark')}"
    if st.button(label, key="check_citations", help="Read each cited source."):
        earlier = state.get(JOB)
        if earlier:
            earlier.stop()
        initial = CitationsProgress(key=key)
        state.put(JOB, background.Job("citations", initial, _checking(report, listed or "")))
        st.rerun()


def _checking(report: Report, listed: str) -> background.Work[CitationsProgress]:
    database, browser = store(), state.browser()

    def work(stop: threading.Event, update: Callable[..., CitationsProgress]) -> None:
        settings = of_saved_run(report.settings, Settings.from_environment(), "sources")
        steps = citations.check(
            report,
            settings,
            database,
            stop,
            listed,
        )
        for event in background.in_turns(browser, stop, steps):
            update(**({"step": event} if isinstance(event, Step) else {"result": event}))

    return work
