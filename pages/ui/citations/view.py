"""The answer's own citations, checked on demand below a run."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import streamlit as st

from attribution.citations import check as citations
from attribution.citations.check import Step, claims_id
from attribution.citations.marks import Cited, find
from attribution.citations.report import CitationReport
from attribution.evidence.strangers import of_saved_run
from attribution.settings import Settings
from attribution.types import Report
from pages.ui import state
from pages.ui.citations.job import Check, CitationsJob, Progress
from pages.ui.citations.table import result_view
from pages.ui.frame import note, progress_bar, show, small, status_line
from pages.ui.html.render import plural
from pages.ui.slot import saved, store

JOB, SHOWN, LISTED = "citations_job", "citations_shown", "citations_listed"
POLL = 0.5  # seconds between looks at the job
STEPS = {"read": "Reading sources", "judge": "Holding them against the claims"}


def citations_panel(report: Report) -> None:
    """The marks of the answer, the button, and the result; nothing where the answer cites nothing."""
    cited = find(report.answer)
    if not cited.marks:
        return
    key = f"{report.id}-{claims_id(report)}"
    job = _job(key)
    running = job is not None and job.running
    expanded = running or _shown(report, key) is not None
    with st.expander(f"The answer's citations ({len(cited.marks)})", expanded=expanded):
        st.fragment(_part, run_every=POLL if running else None)(report, key, cited, running)


def _job(key: str) -> CitationsJob | None:
    job: CitationsJob | None = state.get(JOB)
    return job if job is not None and job.key == key else None


def _shown(report: Report, key: str) -> CitationReport | None:
    """The result of the job, else the saved one, looked up once."""
    if job := _job(key):
        return job.progress().result
    kept = state.get(SHOWN)
    if kept is None or kept[0] != key:
        kept = (key, saved(lambda database: citations.saved(report, database))[0])
        state.put(SHOWN, kept)
    result: CitationReport | None = kept[1]
    return result


def _part(report: Report, key: str, cited: Cited, polling: bool) -> None:
    job = _job(key)
    now = job.progress() if job else Progress(running=False)
    if polling and not now.running:
        st.rerun()
    if now.running:
        _under_way(now)
        if st.button("Stop", key="stop_citations", help="End the check; what was found so far is kept.") and job:
            job.stop()
        return
    if now.error:
        note("The citations could not be checked", now.error, label="contradicted", detail=now.detail)
    result = _shown(report, key)
    if result:
        show(result_view(result, report))
    if store().access(report.id).own:
        _start(report, key, cited, result)
    elif not result:
        small("They were not checked. The run is somebody else's: make a copy to check them.")


def _under_way(now: Progress) -> None:
    step = now.step or Step("read", 0, 0)
    done = f"{step.done} of {step.total}" if step.total else "…"
    status_line(f"{'Stopping … ' if now.stopping else ''}{STEPS[step.stage]} {done}")
    half = step.done / step.total if step.total else 0
    progress_bar(half / 2 + (step.stage == "judge") / 2, "Progress of the check")


def _start(report: Report, key: str, cited: Cited, result: CitationReport | None) -> None:
    """The button, and a box for sources that the answer does not name."""
    used = {name for mark in cited.marks for name in mark.sources}
    unnamed = [source for source in cited.sources if source.key in used and not source.url and not source.text]
    if not result:
        small(
            "Each cited source is read, and held against the claims that cite it. Sources on the web are fetched from "
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
        )
    label = "Check again" if result else f"Check {plural(len(cited.marks), 'citation mark')}"
    if st.button(
        label, key="check_citations", help="Read each cited source and hold it against the claims that cite it."
    ):
        if earlier := state.get(JOB):
            earlier.stop()
        state.put(JOB, CitationsJob(report, key, _checking(listed or "")))
        st.rerun()


def _checking(listed: str) -> Check:
    database = store()

    def run(report: Report, stop: threading.Event) -> Iterator[Step | CitationReport]:
        settings = of_saved_run(report.settings, Settings.from_environment(), "sources")
        yield from citations.check(report, settings, database, stop, listed)

    return run
