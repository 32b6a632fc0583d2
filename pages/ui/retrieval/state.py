"""The retrieval grid of one session: starting, stopping and showing it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attribution.evaluation.retrieval_grid import grid
from attribution.evaluation.saved import load_grid, save_grid
from attribution.snapshots.file import load as load_snapshot
from attribution.snapshots.snapshot import Snapshot
from attribution.storage.runs import new_run_id
from attribution.types import Report
from pages.ui import background, state
from pages.ui.retrieval.job import GridJob, GridProgress
from pages.ui.run import state as run_state

JOB, SHOWN, NOTICE = "grid", "shown_grid", "grid_notice"


def saved_run(run_id: str) -> Snapshot:
    return Snapshot.of(run_state.store(), run_id)


def last_run() -> Report | None:
    """The session's last run, once it is saved."""
    last = run_state.current()
    return last.report if last and not last.running and last.report.id else None


def start(snapshot: bytes | None, run_id: str, cuts: Sequence[str], embedders: Sequence[str]) -> None:
    """Compute the grid of an uploaded snapshot, or of a saved run."""
    source = partial(load_snapshot, snapshot) if snapshot else partial(saved_run, run_id)
    id = new_run_id()
    state.put(NOTICE, None)
    state.put(JOB, GridJob(id, source, cuts, embedders, grid, partial(save_grid, run_state.store(), id)))


def stop() -> None:
    """End it with the cells it has."""
    if job := state.get(JOB):
        job.stop()


def is_running() -> bool:
    job: GridJob | None = state.get(JOB)
    return job is not None and job.running


def load(id: str) -> None:
    """Show the grid in the address, saved or in progress; `notice` says why where it cannot be shown."""
    if job := background.find(id):
        state.put(JOB, job)
        return
    cells, reason = run_state.saved(lambda database: load_grid(database, id))
    if cells is None:
        state.put(NOTICE, reason)
        return
    state.put(SHOWN, GridProgress(cells, tuple(cell.choice for cell in cells), running=False))


def notice() -> str:
    """Why a saved grid cannot be shown; empty where it can."""
    return str(state.get(NOTICE) or "")


def current() -> GridProgress | None:
    """The grid to show: the last one that was started, else the one in the address."""
    job: GridJob | None = state.get(JOB)
    if job is None:
        shown: GridProgress | None = state.get(SHOWN)
        return shown
    state.show_address(grid=job.id)
    return job.progress()
