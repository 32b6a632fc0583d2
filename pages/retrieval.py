"""Retrieval: one frozen run through a grid of chunkers and embedders."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attribution.embedders import EMBEDDERS
from attribution.evaluation.retrieval_grid import CHUNKINGS, differences, grid
from attribution.settings import Settings
from attribution.snapshots.file import FILE_LIMIT, dump, load
from attribution.snapshots.snapshot import Snapshot
from attribution.storage.store import Store
from attribution.types import Report
from pages.ui import controls, state
from pages.ui.frame import styles
from pages.ui.html.render import el, plural
from pages.ui.retrieval import view as grid_view
from pages.ui.retrieval.job import GridJob, Progress
from pages.ui.run import run_state
from pages.ui.run.results import note, show

POLL = 1.0  # seconds between looks at a grid that is being computed
JOB = "grid"


def _saved(run_id: str) -> Snapshot:
    return Snapshot.of(Store.open(Settings.from_environment().database_url), run_id)


def _last() -> Report | None:
    """The session's last run, once it is saved."""
    last = run_state.current()
    return last.report if last and not last.running and last.report.id else None


def form(running: bool) -> None:
    """What is compared, and the buttons."""
    report = _last()
    if report:
        subject = report.question.strip() or report.answer.strip()
        facts = f"{plural(len(report.claims), 'claim')}, {plural(len(report.pages), 'page')}"
        named = el("span", "Run: ", el("strong", subject[:120], dir="auto"), f" · {facts}")
        show(el("p", named, class_="ax-status"))
    else:
        note("No run yet", "Analyse an answer on the Explore page first, or upload the snapshot of a run.")
        if st.button("Go to Explore", key="to_explore"):
            st.switch_page("pages/explore.py")
    with st.expander("Another run, from its snapshot" if report else "A run from its snapshot", expanded=not report):
        uploaded = st.file_uploader(
            "Snapshot of a run", ["zip"], key="grid_file", help="Made by `python -m attribution snapshot export`."
        )
        if report:
            _export(report)
    too_large = uploaded is not None and uploaded.size > FILE_LIMIT
    if too_large:
        note("The file is too large", f"A snapshot may have {FILE_LIMIT:,} bytes.", label="contradicted")
    with st.container(key="form"):
        choices, buttons = st.columns([5, 1])
        with choices:
            cuts = st.pills(
                "Chunkers",
                list(CHUNKINGS),
                selection_mode="multi",
                default=["fixed 512", "sentence windows"],
                key="grid_cuts",
                wrap=True,
                help="How a page is cut into passages.",
            )
            embedders = st.pills(
                "Embedders",
                [name for name, entry in EMBEDDERS.items() if not entry.missing()],
                selection_mode="multi",
                default=["minilm"],
                format_func=lambda n: EMBEDDERS[n].label,
                key="grid_embedders",
                wrap=True,
                help="How passages and claims become vectors, of which the nearest are taken.",
            )
            controls.unready(EMBEDDERS)
        with buttons, st.container(key="go"):
            show(el("div"))  # as high as the label beside it
            possible = bool(cuts and embedders and (uploaded or report)) and not too_large
            if st.button("Compare", type="primary", disabled=running or not possible, key="grid_go", width="stretch"):
                run_id = report.id if report else ""
                source = partial(load, uploaded.getvalue()) if uploaded else partial(_saved, run_id)
                state.keep(JOB, GridJob(source, cuts, embedders, grid))
                st.rerun()
            stop = st.button(
                "Stop", disabled=not running, key="grid_stop", width="stretch", help="Keeps the cells that are done."
            )
            if stop:
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
        alt=grid_view.summary(now.cells),
    )
    with st.expander("The figures as a table, with time and memory", expanded=not now.running):
        show(grid_view.table(now.cells))
        show(el("p", "Each cell starts from empty caches, with the models loaded.", class_="ax-quiet"))


def _status(now: Progress) -> None:
    if now.running:
        done, names = len(now.cells), grid_view.names(now.chosen)
        doing = "Stopping after this step" if now.stopping else names[done] if done < len(names) else "Opening the run"
        show(el("p", f"{doing}: {done} of {now.total} done …", class_="ax-status", role="status"))
        share = done / now.total if now.total else 0
        show(el("progress", class_="ax-bar", value=f"{share:.3f}", max=1, aria_label="Progress of the grid"))
    elif now.cells:
        early = f"Stopped after {len(now.cells)} of {now.total}. " if len(now.cells) < now.total else ""
        show(el("p", early + grid_view.summary(now.cells), class_="ax-status"))
    elif not now.broken:
        note("Nothing was compared", "It was stopped before the first cell was done.")


def drill_down(now: Progress) -> None:
    """Two cells side by side: the passages that one alone was given."""
    names = grid_view.names([cell.choice for cell in now.cells])
    one, two = st.columns(2)
    left = one.selectbox("Evidence of", range(len(names)), 0, format_func=names.__getitem__, key="grid_left")
    right = two.selectbox("against", range(len(names)), 1, format_func=names.__getitem__, key="grid_right")
    a, b = now.cells[left], now.cells[right]
    show(grid_view.compared(differences(a.report, b.report), a, b))


def _export(report: Report) -> None:
    """The last run's snapshot to take along, made only when asked for."""
    st.download_button(
        "Download the snapshot of this run",
        lambda: dump(_saved(report.id)),
        f"run-{report.id}.zip",
        "application/zip",
        on_click="ignore",
        key="snapshot_download",
    )


state.begin("retrieval", run_state.load)
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
running = kept is not None and kept.running
form(running)
st.fragment(live, run_every=POLL if running else None)(running)
if kept is not None and not running and len(kept.progress().cells) > 1:
    drill_down(kept.progress())
