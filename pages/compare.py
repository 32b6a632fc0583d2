"""Compare: one answer split by two to four segmenters, over the same evidence."""

from __future__ import annotations

import streamlit as st

from attribution.errors import BadInput
from attribution.files import Row, format_cell
from attribution.reports.html import Node, el, plural, scrolling, table
from attribution.reports.provenance import date
from attribution.segmenters import SEGMENTERS
from attribution.studies.segmenters.comparison import MAX_SEGMENTERS
from attribution.studies.segmenters.tables import tables
from attribution.studies.tables import Table
from attribution.types import Failure
from pages.ui import choices, compare_results, run_results, state
from pages.ui import compare as compare_state
from pages.ui import run as run_state
from pages.ui.compare import CompareProgress, ExperimentProgress
from pages.ui.compare_results import compare_view, figures, legend, summary
from pages.ui.downloads import downloads
from pages.ui.form import form, unready
from pages.ui.frame import lead, link, note, plot, progress_bar, show, small, status_line, styles
from pages.ui.run import preload
from pages.ui.run_results import bar, cost, not_used, status, what_failed
from pages.ui.sidebar import sidebar

POLL = 0.5  # seconds between looks at a comparison in progress
SAMPLE = '{"question": "Where does the Nile flow?", "answer": "It flows north into the Mediterranean."}\n'


def segmenters() -> None:
    """Which segmenters to compare; those that are not ready stand below."""
    ready = [name for name, step in choices.missing(SEGMENTERS).items() if not step]
    st.pills(
        "Segmenters, two to four",
        ready,
        selection_mode="multi",
        default=compare_state.segmenters(),
        key=state.key(state.COMPARED),
        format_func=lambda name: SEGMENTERS[name].label,
        help="How claims are drawn from the answer. All claims are checked against the same pages.",
    )
    selected = compare_state.segmenters()
    notes = [f"{SEGMENTERS[name].label}: {SEGMENTERS[name].note}" for name in selected]
    if not 2 <= len(selected) <= MAX_SEGMENTERS:
        notes = [f"{plural(len(selected), 'segmenter')} selected: select two to four"]
    small(". ".join(notes) + ".")
    unready(SEGMENTERS)


def live(polling: bool) -> None:
    """The comparison as it stands."""
    if polling != compare_state.is_running():
        st.rerun()  # the form has to change too
    now = compare_state.current()
    if reason := compare_state.notice():
        note("The saved comparison cannot be shown", reason)
    if now is None:
        lead(
            "Compare splits the answer with each segmenter ([segmentation]), searches the [sources] once for all of "
            "them, and checks every [claim] against the same pages. Sentences whose [verdict] depends on how the "
            "answer is split come first."
        )
    elif now.many:
        experiment_result(now)
    else:
        comparison_result(now)


def comparison_result(now: CompareProgress) -> None:
    run, comparison = now.run, now.comparison
    if run.rejected:
        note("This text cannot be compared", run.rejected, label="contradicted", detail=run.detail)
        return
    shown = st.container(key="outcome")  # whatever it holds, what follows stays in its place and is not drawn anew
    with shown:
        outcome(now)
    failures: tuple[Failure, ...] = ()
    if comparison and not run.running:
        failures = (*(f for c in comparison.columns for f in c.failures), *comparison.report.failures)
        asked = [c for c in comparison.columns if any(f.kind == "llm_failed" for f in c.failures)]
        labels = [SEGMENTERS[c.segmenter].label for c in asked]
        with shown:
            not_used(comparison.report.model_copy(update={"failures": failures}), labels)
    if run.running or comparison:
        show(figures(now.segmenters, now.results, comparison, run.running))
    if not comparison:
        return
    show(legend(comparison, run.running))
    compare_view(comparison, running=run.running, key="compare_view")
    if not run.running:
        what_failed(failures)
        exports(
            compare_results.as_markdown(comparison),
            compare_results.as_csv(comparison),
            compare_results.as_json(comparison),
        )


def outcome(now: CompareProgress) -> None:
    """How far it is, or what was found."""
    run, comparison = now.run, now.comparison
    if run.error:
        title = "The comparison could not be finished" if comparison else "The comparison could not start"
        note(title, run.error, label="contradicted", detail=run.detail)
    elif comparison and not run.running and (changed := compare_state.differences(now)):
        note("The form has changed", f"Changed since this result: {', '.join(changed)}. Compare again to update it.")
    if run.running:
        status(run, run.report)
        bar(run, run.report)
    elif comparison:
        done = {r.segmenter for r in now.results} | {c.segmenter for c in comparison.columns}
        waiting = [SEGMENTERS[name].label for name in now.segmenters if name not in done]
        early = "" if now.finished else "Stopped early; the results so far are kept. "
        early += f"Not reached: {', '.join(waiting)}. " if waiting else ""
        show(el("p", early + summary(comparison), class_="ax-status"))
        report = comparison.report
        if report.created_at:
            link(f"{choices.method(report)}, {date(report.created_at)}", key="link", **state.address("comparison"))
        named = [(SEGMENTERS[c.segmenter].label, c.report) for c in comparison.columns]
        plot(run_results.bars(named, state.is_dark()), "compare_chart", summary(comparison))


def experiment_result(now: ExperimentProgress) -> None:
    if now.running:
        done = f"{now.done} of {plural(now.total, 'answer')} compared"
        status_line(f"{'Stopping after this answer' if now.stopping else done} …")
        progress_bar(now.done / now.total, "Progress of the comparison")
    if now.error:
        note("The comparison could not be finished", now.error, label="contradicted", detail=now.detail)
    if now.failed:
        lines = [f"Line {line}: {error}" for line, _, error in now.failed[:20]]
        note(f"{plural(len(now.failed), 'answer')} could not be compared", *lines)
    if now.running:
        return
    if not now.comparisons:
        if not (now.error or now.failed):
            note("Nothing was compared", "The comparison was stopped before the first answer was done.")
        return
    early = f"Stopped after {now.done} of {now.total}. " if now.done < now.total else ""
    status_line(f"{early}{plural(len(now.comparisons), 'answer')} compared.")
    link("This result has an address of its own.", key="link", **state.address("experiment"))
    results = tables(now.comparisons, now.failed)
    for result in results:
        with st.expander(result.title, expanded=True):
            show(as_node(result))
    markdown = "\n".join(t.markdown() for t in results)
    figures = tables(now.comparisons)
    exports(markdown, compare_results.tables_csv(figures), compare_results.tables_json(results))


def as_node(result: Table) -> Node:
    rows = ([format_cell(cell) for cell in row] for row in result.rows)
    return scrolling(table(result.columns, rows, "ax-table wide"), result.title)


def exports(markdown: str, csv: str, json: str) -> None:
    """The result to copy or to download."""
    files = {
        "Markdown": (markdown, "comparison.md", "text/markdown"),
        "CSV": (csv, "comparison.csv", "text/csv"),
        "JSON": (json, "comparison.json", "application/json"),
    }
    with st.expander("Copy as Markdown, CSV or JSON"):
        format = st.segmented_control(
            "Format",
            list(files),
            default="Markdown",
            key="copy_format",
            required=True,
            help="In which form the result is shown below.",
        )
        st.code(files[format or "Markdown"][0], language=None, height=320)
    downloads(files)


def experiment(running: bool) -> None:
    """The same over the answers of a file."""
    with st.expander("Many answers at once"):
        small("A JSON Lines file: one object per line, with a question and an answer.")
        st.download_button(
            "Download a sample file", SAMPLE, "answers.jsonl", "application/json", on_click="ignore", key="sample"
        )
        upload = st.file_uploader(
            "Answers",
            ["jsonl", "json", "txt"],
            key=compare_state.UPLOAD,
            help="JSON Lines; the sample file shows the form.",
        )
        rows: list[Row] = []
        if upload is not None:
            try:
                rows = compare_state.read_answers(upload.getvalue())
            except BadInput as error:
                note("This file cannot be used", str(error), label="contradicted")
        st.button(
            f"Compare {plural(len(rows), 'answer')}" if rows else "Compare the answers",
            on_click=compare_state.start_many,
            args=(rows,),
            disabled=running or not rows or not compare_state.is_ready(),
            key="start_many",
        )


state.begin("compare", run=run_state.load, comparison=compare_state.load, experiment=compare_state.load_many)
styles()
sidebar(segmenter=False)
polling = compare_state.is_running()  # asked once, so that form and result agree
ready = compare_state.is_ready()
form(
    start="Compare",
    on_start=compare_state.start,
    slot=compare_state.COMPARISON,
    compact=True,
    running=polling,
    ready=ready,
    options=segmenters,
    turns=True,
    estimate=(lambda: cost(polling, compare_state.segmenters())) if ready else None,
)
st.fragment(live, run_every=POLL if polling else None)(polling)
experiment(polling)
preload()
