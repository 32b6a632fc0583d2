"""Retrieval: one frozen run through a grid of chunkers and embedders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from textwrap import shorten

import streamlit as st

from attribution.embedders import EMBEDDERS
from attribution.snapshots.file import FILE_LIMIT, dump
from attribution.snapshots.snapshot import Snapshot
from attribution.studies.retrieval import CHUNKINGS, differences
from attribution.types import Report
from pages.ui import choices, retrieval, state
from pages.ui import run as run_state
from pages.ui.form import start_and_stop, unready
from pages.ui.frame import lead, link, note, plot, progress_bar, show, small, status_line, styles
from pages.ui.retrieval import GridProgress

POLL = 1.0  # seconds between looks at a grid in progress


def _snapshot(read: Callable[[], Snapshot]) -> bytes:
    return dump(read())


def form(running: bool) -> None:
    """The run, the rows of the grid, and the buttons."""
    runs = retrieval.finished_runs()
    chosen = None
    if runs:
        chosen = st.selectbox(
            "Run",
            list(runs),
            format_func=lambda run_id: shorten(runs[run_id], 120, placeholder=" …"),
            key="grid_run",
            help="The newest runs of your history. Its claims and pages stay; only the passages change.",
        )
    else:
        note("No run yet", "Analyse an answer on the Explore page first, or upload the snapshot of a run.")
        if st.button("Go to Explore", key="to_explore"):
            st.switch_page("pages/explore.py")
    with st.expander("Use a snapshot in its place" if chosen else "Use a snapshot", expanded=not chosen):
        uploaded = st.file_uploader(
            "Snapshot of a run", ["zip"], key="grid_file", help="A file of `python -m attribution snapshot export`."
        )
        if chosen:
            st.download_button(
                "Download the snapshot of this run",
                partial(_snapshot, retrieval.saved_run(chosen)),
                f"run-{chosen}.zip",
                "application/zip",
                on_click="ignore",
                key="snapshot_download",
            )
    too_large = uploaded is not None and uploaded.size > FILE_LIMIT
    if too_large:
        note("The file is too large", f"A snapshot has at most {FILE_LIMIT:,} bytes.", label="contradicted")
    with st.container(key="form"):
        options, buttons = st.columns([5, 1])
        with options:
            cuts = st.pills(
                "Chunkers",
                list(CHUNKINGS),
                selection_mode="multi",
                default=["fixed 512", "sentence windows"],
                key="grid_cuts",
                wrap=True,
                help="How pages are split into passages.",
            )
            embedders = st.pills(
                "Embedders",
                [name for name, step in choices.missing(EMBEDDERS).items() if not step],
                selection_mode="multi",
                default=["minilm"],
                format_func=lambda name: EMBEDDERS[name].label,
                key="grid_embedders",
                wrap=True,
                help="How passages and claims become vectors; the nearest passages are checked.",
            )
            unready(EMBEDDERS)
        with buttons:
            start_and_stop(
                "Compare",
                partial(
                    retrieval.start,
                    uploaded.getvalue() if uploaded else None,
                    chosen or "",
                    cuts,
                    embedders,
                ),
                retrieval.RESULT,
                running,
                ready=bool(cuts and embedders and (uploaded or chosen)) and not too_large,
                stop_help="The cells that are done are kept.",
            )


def live(polling: bool) -> None:
    """The cells that are done."""
    if reason := retrieval.notice():
        note("The saved grid cannot be shown", reason)
    now = retrieval.current()
    if now is None:
        return
    if polling and not now.running:
        st.rerun()  # the form has to change too
    status(now)
    if now.error:
        note("The grid could not be finished", now.error, label="contradicted", detail=now.detail)
    if now.failures:
        show(retrieval.failure_table(now.choices, now.failures))
    if not now.cells:
        return
    if not now.running:
        link(f"Computed over the run “{subject(now.cells[0].report)}”.", key="link", **state.address("run", "grid"))
    plot(retrieval.heat_map(now.cells, state.is_dark()), f"grid_map_{len(now.cells)}", retrieval.summary(now.cells))
    with st.expander("Table, with time and memory", expanded=not now.running):
        show(retrieval.cell_table(now.cells))
        small("Each cell starts with empty caches and with its models loaded.")


def subject(report: Report) -> str:
    """A run in a few words: its question, or else its answer."""
    return shorten(report.question.strip() or report.answer.strip(), 120, placeholder=" …")


def status(now: GridProgress) -> None:
    done, total = len(now.cells) + len(now.failures), len(now.choices)
    if now.running:
        names = retrieval.names(now.choices)
        doing = "Stopping after this step" if now.stopping else names[done] if done < total else "Opening the run"
        status_line(f"{doing}: {done} of {total} done …")
        progress_bar(done / total if total else 0, "Progress of the grid")
    elif now.cells:
        early = f"Stopped after {done} of {total}. " if done < total else ""
        status_line(early + retrieval.summary(now.cells))
    elif not (now.error or now.failures):
        note("Nothing was compared", "The grid was stopped before the first cell was done.")


def drill_down(now: GridProgress) -> None:
    """Two cells side by side: the passages that only one of them found."""
    names = retrieval.names([cell.choice for cell in now.cells])
    first, second = st.columns(2)
    left = first.selectbox(
        "Evidence of",
        range(len(names)),
        0,
        format_func=names.__getitem__,
        key="grid_left",
        help="The first of two cells whose passages are compared.",
    )
    right = second.selectbox(
        "against", range(len(names)), 1, format_func=names.__getitem__, key="grid_right", help="The second of the two."
    )
    a, b = now.cells[left], now.cells[right]
    show(retrieval.difference_list(differences(a.report, b.report), a, b))


state.begin("retrieval", run=run_state.load, grid=retrieval.load)
styles()
lead(
    "Retrieval keeps the [claims] and [pages] of one run, and changes only how [passages] are split and found. Nothing "
    "is searched or downloaded."
)
running = retrieval.is_running()
form(running)
st.fragment(live, run_every=POLL if running else None)(running)
result = retrieval.current()
if result and not running and len(result.cells) > 1:
    drill_down(result)
