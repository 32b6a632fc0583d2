"""Check an answer's own citations in the background, and show them in a table."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
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
from attribution.text.urls import site
from attribution.types import Claim, Label, Page, Report
from pages.ui import background, state
from pages.ui.frame import note, progress_bar, show, small, status_line
from pages.ui.state import saved, store

Check = Callable[[Report, threading.Event], Iterator[Step | CitationReport]]


@dataclass(frozen=True)
class CitationsProgress(background.JobProgress):
    step: Step | None = None
    result: CitationReport | None = None


class CitationsJob(background.Job[CitationsProgress]):
    """Checks the citations of one state of a run, named by `key`."""

    def __init__(self, report: Report, key: str, check: Check) -> None:
        def work(stop: threading.Event, update: Callable[..., CitationsProgress]) -> None:
            for event in check(report, stop):
                update(**({"step": event} if isinstance(event, Step) else {"result": event}))

        self.key = key
        super().__init__("citations", CitationsProgress(), work)


_WORDS = re.compile(r"\[++([^\[\]]++)\]++[(\[]")
OUTCOMES: dict[Outcome, tuple[Label, str]] = {
    "supported": ("supported", "Supported"),
    "contradicted": ("contradicted", "Contradicted"),
    "not_supported": ("no_relation", "Not supported"),
    "dead": ("missing", "Dead link"),
    "unreachable": ("missing", "Could not be read"),
    "unnamed": ("missing", "No source named"),
}
STANDINGS: dict[Standing, tuple[Label, str]] = {
    "cited_supported": ("supported", "cited and supported"),
    "cited_not_supported": ("no_relation", "cited, not supported"),
    "cited_unreachable": ("missing", "cited, source not read"),
    "uncited_supported": ("unclear", "not cited, supported elsewhere"),
    "uncited_unsupported": ("not_checked", "not cited, not supported"),
}


def result_view(result: CitationReport, report: Report) -> Node:
    """The whole result."""
    counts = Counter(claim.standing for claim in result.claims)
    chips = (
        badge(STANDINGS[k][0], word=f"{counts[k]} {STANDINGS[k][1]}")
        for k in STANDINGS
        if counts[k]
    )
    heads = ("Mark", "Source", "Claim", "Result", "Passage or reason")
    return el(
        "div",
        el("p", summary(result), class_="ax-quiet-inline", role="status"),
        el("p", *chips, class_="ax-legend"),
        table(heads, _rows(result, report), class_="ax-table ax-citations"),
    )


def summary(result: CitationReport) -> str:
    """Recall and precision with what they are shares of."""
    figures, parts = result.figures, []
    if figures.recall is not None:
        verb, whose = (
            ("is", "its") if 1 in (figures.supported, figures.claims) else ("are", "their")
        )
        parts.append(
            f"{figures.supported} of {plural(figures.claims, 'claim')} {verb} supported by {whose} citations "
            f"(recall {figures.recall:.2f})."
        )
    if figures.precision is not None:
        parts.append(
            f"{figures.useful} of {plural(figures.citations, 'citation')} helped to support a claim "
            f"(precision {figures.precision:.2f})."
        )
    unread = sum(claim.standing == "cited_unreachable" for claim in result.claims)
    if unread:
        parts.append(f"Left out: {plural(unread, 'claim')} whose sources could not all be read.")
    if result.stopped:
        parts.append("The check was stopped early.")
    return " ".join(parts) or "No claim could be decided."


def _rows(result: CitationReport, report: Report) -> Iterator[list[Child]]:
    claims = {claim.id: (number, claim) for number, claim in enumerate(report.claims, 1)}
    pages = {page.id: page for page in result.pages}
    for cited in result.claims:
        number, claim = claims[cited.claim_id]
        own = [c for c in result.citations if c.claim_id == claim.id]
        for citation in own:
            yield _row(citation, cited, number, claim, result, report, pages)
        if not own:
            label, words = STANDINGS[cited.standing]
            marks = _marks(result, report, cited, None)
            yield [
                marks or "none",
                "",
                _claim(number, claim),
                badge(label, word=words.capitalize()),
                "",
            ]
    for place in result.unattached:
        where = "Not attached to a checked claim."
        yield [_written(report, result.marks[place]), "", where, badge("not_checked"), ""]


def _row(
    citation: Citation,
    cited: CitedClaim,
    number: int,
    claim: Claim,
    result: CitationReport,
    report: Report,
    pages: Mapping[str, Page],
) -> list[Child]:
    label, word = OUTCOMES[citation.outcome]
    piece = citation.evidence
    quote = (
        f"“{' '.join(piece.deciding_sentence.split())}”" if piece else as_sentence(citation.reason)
    )
    mark = _marks(result, report, cited, citation.source)
    return [
        mark,
        _source(citation, result, pages),
        _claim(number, claim),
        badge(label, word=word),
        el("span", quote, dir="auto"),
    ]


def _marks(result: CitationReport, report: Report, cited: CitedClaim, source: str | None) -> str:
    """The marks of a claim that name the source, as they are written."""
    of_claim = (result.marks[place] for place in cited.marks)
    named = [mark for mark in of_claim if source is None or source in mark.sources]
    return ", ".join(dict.fromkeys(_written(report, mark) for mark in named))


def _written(report: Report, mark: Mark) -> str:
    """The mark as a reader of the answer sees it: of a link its words."""
    text = " ".join(report.answer[mark.start : mark.end].split())
    if mark.form == "link" and (words := _WORDS.match(text)):
        text = words[1]
    return text if len(text) <= 40 else f"{text[:38]}…"


def _claim(number: int, claim: Claim) -> Node:
    return el("span", el("strong", f"{number}. "), claim.statement, dir="auto")


def _source(citation: Citation, result: CitationReport, pages: Mapping[str, Page]) -> Node | None:
    if citation.outcome == "unnamed":
        return None
    source = next(source for source in result.sources if source.key == citation.source)
    page = pages.get(citation.page_id)
    title = (page.title if page else "") or source.text or source.url or f"[{source.key}]"
    shown = title if len(title) <= 90 else f"{title[:88]}…"
    url = source.url or (page.url if page else "")
    named: Node = el("span", shown, dir="auto")
    if safe_url(url):
        address = (
            link_to_sentence(url, citation.evidence.deciding_sentence) if citation.evidence else url
        )
        named = _link(shown, address or url)
    notes: list[Node] = []
    if citation.outcome in ("dead", "unreachable") and safe_url(source.url):
        notes.append(el("span", _link("Archived copies", f"{ARCHIVE}{source.url}")))
    elif page and page.kind == "web" and page.reference and site(page.reference) != site(page.url):
        notes.append(el("span", f"The address leads to {site(page.reference)}"))
    return el("div", named, *(el("div", note, class_="ax-detail") for note in notes))


def _link(shown: str, url: str) -> Node:
    return el("a", shown, href=url, target="_blank", rel="noopener noreferrer", dir="auto")


ARCHIVE = "https://web.archive.org/web/*/"  # every capture: the last one may be of the error
JOB, SHOWN, LISTED = "citations_job", "citations_shown", "citations_listed"
POLL = 0.5  # seconds between looks at the job
STEPS = {"read": "Reading sources", "judge": "Comparing them with the claims"}


def citations_panel(report: Report) -> None:
    """Draw the marks of the answer, the button, and the result."""
    cited = find(report.answer, names=source_names(pages=report.pages))
    if not cited.marks:
        small("The answer cites no source.")
        return
    key = f"{report.id}-{claims_id(report)}"
    job = _job(key)
    running = job is not None and job.running
    st.fragment(_part, run_every=POLL if running else None)(report, key, cited, running)


def _job(key: str) -> CitationsJob | None:
    job: CitationsJob | None = state.get(JOB)
    return job if job is not None and job.key == key else None


def _shown(report: Report, key: str) -> CitationReport | None:
    """The result of the job, else the saved one, looked up once."""
    if job := _job(key):
        return job.progress().result
    return state.cached(
        SHOWN, key, lambda: saved(lambda database: citations.saved(report, database))[0]
    )


def _part(report: Report, key: str, cited: Cited, polling: bool) -> None:
    job = _job(key)
    now = job.progress() if job else CitationsProgress(running=False)
    if polling and not now.running:
        st.rerun()
    if now.running:
        _under_way(now)
        if (
            st.button(
                "Stop", key="stop_citations", help="End the check; what was found so far is kept."
            )
            and job
        ):
            job.stop()
        return
    if now.error:
        note(
            "The citations could not be checked", now.error, label="contradicted", detail=now.detail
        )
    result = _shown(report, key)
    if result:
        show(result_view(result, report))
    if store().rights.access(report.id).own:
        _start(report, key, cited, result)
    elif not result:
        small("They were not checked. The run is somebody else's: make a copy to check them.")


def _under_way(now: CitationsProgress) -> None:
    step = now.step or Step("read", 0, 0)
    done = f"{step.done} of {step.total}" if step.total else "…"
    status_line(f"{'Stopping … ' if now.stopping else ''}{STEPS[step.stage]} {done}")
    half = step.done / step.total if step.total else 0
    progress_bar(half / 2 + (step.stage == "judge") / 2, "Progress of the check")


def _start(report: Report, key: str, cited: Cited, result: CitationReport | None) -> None:
    """The button, and a box for sources that the answer does not name."""
    used = {name for mark in cited.marks for name in mark.sources}
    unnamed = [
        source
        for source in cited.sources
        if source.key in used and not source.url and not source.text
    ]
    if not result:
        small(
            "Each cited source is read, and compared with the claims that cite it. Sources on the web are fetched from "
            "their sites."
        )
    listed = ""
    if unnamed:
        names = ", ".join(f"[{source.key}]" for source in unnamed[:8])
        listed = st.text_area(
            f"The answer does not say what {names} {'is' if len(unnamed) == 1 else 'are'}",
            result.listed if result else "",
            key=LISTED,
            height=80,
            placeholder="[1] https://…",
            help="Paste the list of sources, a line each. It is used for this check only.",
            max_chars=LIMITS.text,
        )
    label = "Check again" if result else f"Check {plural(len(cited.marks), 'citation mark')}"
    if st.button(
        label,
        key="check_citations",
        help="Read each cited source and compare it with the claims that cite it.",
    ):
        if earlier := state.get(JOB):
            earlier.stop()
        state.put(JOB, CitationsJob(report, key, _checking(listed or "")))
        st.rerun()


def _checking(listed: str) -> Check:
    database, browser = store(), state.browser()

    def run(report: Report, stop: threading.Event) -> Iterator[Step | CitationReport]:
        settings = of_saved_run(report.settings, Settings.from_environment(), "sources")
        return background.in_turns(
            browser, stop, citations.check(report, settings, database, stop, listed)
        )

    return run
