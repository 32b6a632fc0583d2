"""Retrieval: one frozen run through a grid of chunkers and embedders."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attribution.embedders import EMBEDDERS
from attribution.evaluation.retrieval_grid import CUTS, differences, grid
from attribution.settings import Settings
from attribution.snapshot_file import FILE_LIMIT, dump, load
from attribution.snapshots import Snapshot
from attribution.store import Store
from pages.ui import grid_view, state
from pages.ui.frame import styles
from pages.ui.grid_job import GridJob, Progress
from pages.ui.render import el
from pages.ui.results import note, show

POLL = 1.0  # seconds between looks at a grid that is being computed
JOB = "grid"


def _saved(run_id: str) -> Snapshot:
    return Snapshot.of(Store.open(Settings.from_environment().database_url), run_id)


def form(running: bool) -> None:
    """What is compared, and the buttons."""
    uploaded = st.file_uploader(
        "Snapshot of a run", ["zip"], key="grid_file", help="Made by `python -m attribution snapshot export`."
    )
    last = state.current()
    run_id = last.report.id if last else ""
    if uploaded is None and not run_id:
        note("No run yet", "Analyse an answer on the Explore page first, or upload the snapshot of a run.")
    cuts = st.multiselect("Chunkers", list(CUTS), ["fixed 512", "sentence windows"], key="grid_cuts")
    ready = [name for name, entry in EMBEDDERS.items() if not entry.missing()]
    embedders = st.multiselect(
        "Embedders", ready, ["minilm"], format_func=lambda n: EMBEDDERS[n].label, key="grid_embedders"
    )
    for name, entry in EMBEDDERS.items():
        if missing := entry.missing():
            show(el("p", f"{EMBEDDERS[name].label} needs: {missing}", class_="ax-quiet"))
    too_large = uploaded is not None and uploaded.size > FILE_LIMIT
    if too_large:
        note("The file is too large", f"A snapshot may have {FILE_LIMIT:,} bytes.", label="contradicted")
    go, halt = st.columns(2)
    if go.button(
        "Compare",
        type="primary",
        disabled=running or too_large or not (cuts and embedders) or not (uploaded or run_id),
        key="grid_go",
        width="stretch",
    ):
        source = partial(load, uploaded.getvalue()) if uploaded else partial(_saved, run_id)
        state.keep(JOB, GridJob(source, cuts, embedders, grid))
        st.rerun()
    if halt.button("Stop", disabled=not running, key="grid_stop", width="stretch"):
        state.kept(JOB).stop()


def live(polling: bool) -> None:
    """The cells as they come."""
    job: GridJob | None = state.kept(JOB)
    if job is None:
        return
    now = job.progress()
    if polling and not now.running:
        st.rerun()  # the form has to hear of it too
    _status(now)
    if now.broken:
        note("The grid could not be finished", now.broken, label="contradicted")
    if not now.cells:
        return
    st.plotly_chart(
        grid_view.heat_map(now.cells, state.dark()),
        config={"displayModeBar": False},
        theme=None,
        key=f"grid_map_{len(now.cells)}",
        alt="Share of the claims by outcome, one row for each chunker and embedder; the table below has the figures.",
    )
    with st.expander("The figures as a table", expanded=not now.running):
        show(grid_view.table(now.cells))


def _status(now: Progress) -> None:
    if now.running:
        doing = "Stopping after this step" if now.stopping else "Computing"
        show(el("p", f"{doing}: {len(now.cells)} of {now.total} cells …", class_="ax-status", role="status"))
        share = len(now.cells) / now.total if now.total else 0
        show(el("progress", class_="ax-bar", value=f"{share:.3f}", max=1, aria_label="Progress of the grid"))
    else:
        show(el("p", f"{len(now.cells)} of {now.total} cells, each from empty caches.", class_="ax-status"))


def drill_down(now: Progress) -> None:
    """Two cells side by side: the passages that one alone was given."""
    names = [grid_view.name(cell) for cell in now.cells]
    one, two = st.columns(2)
    left = one.selectbox("Evidence of", range(len(names)), 0, format_func=names.__getitem__, key="grid_left")
    right = two.selectbox("against", range(len(names)), 1, format_func=names.__getitem__, key="grid_right")
    a, b = now.cells[left], now.cells[right]
    show(grid_view.compared(differences(a.report, b.report), a, b))


def export() -> None:
    """The last run's snapshot to take along, made only when asked for."""
    last = state.current()
    if last is None or last.running or not last.report.id:
        return
    st.download_button(
        "Download the snapshot of this run",
        lambda: dump(_saved(last.report.id)),
        f"run-{last.report.id}.zip",
        "application/zip",
        on_click="ignore",
        key="snapshot_download",
    )


state.begin("retrieval")
styles()
show(
    el(
        "p",
        "The claims and pages of one run stay as they are; only the way passages are cut and found changes. "
        "Nothing is searched or fetched.",
        class_="ax-lead",
    )
)
kept: GridJob | None = state.kept(JOB)
running = kept is not None and kept.progress().running
form(running)
st.fragment(live, run_every=POLL if running else None)(running)
if kept is not None and not running and len(kept.progress().cells) > 1:
    drill_down(kept.progress())
export()
