"""State of the History page: the list, its filters, interrupted runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from attribution.errors import AttributionError
from attribution.reports.html import plural
from attribution.snapshots.archive import Imported, export_history, import_history
from attribution.store.history import HistoryPage, HistoryQuery
from attribution.types import Report
from pages.ui import run as run_state
from pages.ui import state
from pages.ui.choices import explain
from pages.ui.frame import note
from pages.ui.run import RunProgress
from pages.ui.slot import store

PER_PAGE = 50
UNDO, COMPARED, ROUND, FIRST, IMPORTED = (
    "history_undo",
    "history_compared",
    "history_round",
    "history_first",
    "imported",
)


def key(name: str) -> str:
    """Return the key of a filter's widget; clearing the filters gives them new keys."""
    return f"history_{name}-{state.get(ROUND) or 0}"


def clear_filters() -> None:
    state.put(ROUND, (state.get(ROUND) or 0) + 1)
    state.put(FIRST, 0)


def first_row() -> int:
    return int(state.get(FIRST) or 0)


def turn(rows: int) -> None:
    """Show later or earlier rows."""
    state.put(FIRST, max(0, first_row() + rows))


def from_start() -> None:
    """Show the first rows, after a filter has changed."""
    state.put(FIRST, 0)


def listed(query: HistoryQuery) -> HistoryPage:
    """Return the runs of this browser."""
    return store().history(query)


# --- one run or several ---


def open_run(run_id: str) -> None:
    """Show a run on Explore."""
    run_state.open_run(run_id)
    state.remember()
    st.switch_page("pages/explore.py", query_params={"run": run_id})


def duplicate(run_id: str) -> None:
    """Fill in the Explore form with the inputs of a run."""
    run_state.duplicate(run_id)
    state.remember()
    st.switch_page("pages/explore.py")


def delete(run_ids: Sequence[str]) -> None:
    store().put_aside(run_ids)
    state.put(UNDO, tuple(run_ids))


def restore(run_ids: Sequence[str]) -> None:
    store().restore(run_ids)
    state.put(UNDO, None)


def delete_for_good(run_ids: Sequence[str]) -> None:
    for run_id in run_ids:
        store().delete_run(run_id)
    state.put(UNDO, None)


def deleted() -> tuple[str, ...]:
    """Return the runs that were deleted last and can be restored at once."""
    return state.get(UNDO) or ()


# --- two runs ---


def compare(run_ids: Sequence[str]) -> None:
    """Compare two runs, until `compare(())`."""
    state.put(COMPARED, tuple(run_ids))
    if run_ids:
        state.show_address(compare="-".join(run_ids))
    else:
        st.query_params.pop("compare", None)


def load_compared(address: str) -> None:
    """Compare the runs named in an address."""
    state.put(COMPARED, tuple(address.split("-")[:2]))


def compared() -> list[Report] | None:
    """Return the runs to compare, the earlier one first; fewer than two if one is missing. None: none are chosen."""
    run_ids = state.get(COMPARED)
    if not run_ids:
        return None
    database = store()
    own = [run_id for run_id in run_ids if database.access(run_id).own]
    reports = [database.load_run(run_id) or database.load_unfinished(run_id) for run_id in own]
    return sorted((r for r in reports if r), key=lambda report: report.created_at)


# --- all runs ---


def exporter(run_ids: Sequence[str] | None = None) -> Callable[[], bytes]:
    """Return a function that makes the file with these runs, or with all."""
    return partial(export_history, store(), run_ids)


def import_file(uploaded: Any) -> None:
    """Import a file, and keep the outcome for `imported`."""
    try:
        result: Imported | str = import_history(store(), uploaded.getvalue())
    except AttributionError as error:
        result = explain(error)[0]
    state.put(IMPORTED, result)
    from_start()


def imported() -> Imported | str | None:
    """Return the result of the last import, or the reason why it failed."""
    result: Imported | str | None = state.get(IMPORTED)
    return result


def is_unfinished(now: RunProgress) -> bool:
    """Return True if the run ended before it was finished, by an error or because its server was stopped."""
    if now.running or not now.report.id or not (now.unfinished or now.error):
        return False
    inputs = store().run_inputs(now.report.id)
    return inputs is not None and not inputs.finished


def is_stopped(now: RunProgress) -> bool:
    """Return True if the run was ended by Stop and has not been edited since."""
    return bool(not now.running and now.report.id and now.report.stopped and not now.report.edits)


def continue_button(now: RunProgress) -> None:
    """Draw the state of an interrupted or stopped run, and the button. Nothing for other runs."""
    if not is_unfinished(now) and not is_stopped(now):
        return
    claims = len(now.report.claims)
    verdicts = sum(v.label != "not_reached" for v in now.report.verdicts)
    known = f"{verdicts} of {plural(claims, 'claim')} have a verdict." if claims else "No claim was checked yet."
    own = store().access(now.report.id).own
    how = (
        "Continue checks the others with the same settings. What was found, read and judged is not done again."
        if own
        else "The browser that started it can continue it."
    )
    title = "This run was stopped" if is_stopped(now) else "This run was interrupted"
    note(title, known, how, label="missing")
    if own:
        st.button(
            "Continue",
            type="primary",
            on_click=run_state.continue_run,
            key="continue",
            help="Check what is left; finished claims keep their verdicts.",
        )
