"""The retrieval grid of one session: starting, stopping and showing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from attribution.evaluation.retrieval_grid import grid
from attribution.evaluation.saved import load_grid, save_grid
from attribution.snapshots.file import load as load_snapshot
from attribution.snapshots.snapshot import Snapshot
from attribution.storage.history import HistoryQuery
from attribution.storage.runs import new_run_id
from attribution.types import Report
from pages.ui import state
from pages.ui.retrieval.job import GridJob, GridProgress
from pages.ui.run import state as run_state
from pages.ui.slot import Slot, store

RUNS = 50  # to choose from
RESULT = Slot[GridJob, GridProgress]("grid")
is_running, notice = RESULT.is_running, RESULT.notice


def saved_run(run_id: str) -> Callable[[], Snapshot]:
    """Reads a run that this browser may read, in any thread."""
    return partial(Snapshot.of, store(), run_id)


def finished_runs() -> dict[str, str]:
    """The names of this browser's newest finished runs, by id; the session's own comes first."""
    own = last_run()
    rows = store().history(HistoryQuery(state="finished", limit=RUNS)).rows
    first = {own.id: own.question.strip() or own.answer.strip()} if own else {}
    return first | {row.id: row.name for row in rows if row.id not in first}


def last_run() -> Report | None:
    """The session's last run, once it is saved."""
    last = run_state.current()
    return last.report if last and not last.running and last.report.id else None


def start(snapshot: bytes | None, run_id: str, cuts: Sequence[str], embedders: Sequence[str]) -> None:
    """Compute the grid of an uploaded snapshot, or of a saved run."""
    source = partial(load_snapshot, snapshot) if snapshot else saved_run(run_id)
    id = new_run_id()
    RESULT.start(GridJob(id, source, cuts, embedders, grid, partial(save_grid, store(), id)))


def load(id: str) -> None:
    """Show the grid in the address, saved or in progress; `notice` says why where it cannot be shown."""
    if not RESULT.running(id) and (cells := RESULT.saved(lambda database: load_grid(database, id))):
        RESULT.show(GridProgress(cells, tuple(cell.choice for cell in cells), running=False))


def current() -> GridProgress | None:
    """The grid to show: the last one that was started, else the one in the address."""
    job = RESULT.job()
    if job is None:
        return RESULT.shown()
    state.show_address(grid=job.id)
    return job.progress()
