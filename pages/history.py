"""History: the runs that this browser has started, to find, describe, compare, delete and keep."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attribution.reports.html import plural
from attribution.store.history import KEPT_HOURS, HistoryPage, HistoryRow
from pages.ui import background, history
from pages.ui import history_list as run_list
from pages.ui import state as inputs
from pages.ui.frame import lead, note, small, styles
from pages.ui.history_list import FILE, comparison, details_dialog, filters, is_narrowed, transfer
from pages.ui.slot import store


def page() -> None:
    """Draw the list with its tools."""
    query = filters(store().tags())
    found = history.listed(query)
    undo()
    if not found.rows:
        nothing(is_narrowed(query), query.state == "deleted")
    else:
        tools = st.container(key="history_tools", horizontal=True)
        result = run_list.runs(found.rows, lambda run_id: background.find(run_id) is not None, key="history_list")
        if run_id := run_list.requested(result, found.rows):
            history.open_run(run_id)
        with tools:
            toolbar(run_list.picked(result, found.rows), query.state == "deleted")
        pager(found)
    transfer(found.total)


def nothing(narrowed: bool, deleted: bool) -> None:
    """Explain why the list is empty."""
    if deleted:
        note("No deleted runs", f"A run that you delete can be restored here for {KEPT_HOURS} hours.")
    elif narrowed:
        note("No run matches", "Search for other words, or clear the filters.")
        st.button("Clear search and filters", on_click=history.clear_filters, key="history_clear_all")
    else:
        note("No runs yet", "Every answer that you analyse on Explore in this browser is saved and listed here.")


def undo() -> None:
    """Offer to restore the runs that were deleted last."""
    if run_ids := history.deleted():
        with st.container(key="history_undo_line", horizontal=True, vertical_alignment="center"):
            note(f"{plural(len(run_ids), 'run')} deleted", f"Under “Deleted”, they stay for {KEPT_HOURS} hours.")
            st.button(
                "Undo",
                on_click=history.restore,
                args=(run_ids,),
                key="history_undo",
                help="Bring back what was deleted.",
            )


def toolbar(rows: Sequence[HistoryRow], deleted: bool) -> None:
    """Draw the buttons for the selected runs."""
    ids = [row.id for row in rows]
    if deleted:
        st.button(
            "Restore",
            on_click=history.restore,
            args=(ids,),
            disabled=not ids,
            key="history_restore",
            help="Bring the selected runs back into the list.",
        )
        with st.popover(
            "Delete for good", disabled=not ids, help="Remove the selected runs from the database at once."
        ):
            small("The runs are removed at once, with the texts that no other run uses. This cannot be undone.")
            st.button(
                "Delete",
                type="primary",
                on_click=history.delete_for_good,
                args=(ids,),
                key="history_for_good",
                help="They cannot be brought back.",
            )
        hint(rows, "Select runs to restore or remove them.")
        return
    if st.button("Open", disabled=len(ids) != 1, key="history_open", help="Open the run on Explore."):
        history.open_run(ids[0])
    compare_help = "Select two runs: which verdicts changed, and why."
    st.button(
        "Compare",
        on_click=history.compare,
        args=(ids,),
        disabled=len(ids) != 2,
        key="history_compare",
        help=compare_help,
    )
    if st.button("Title, tags, note", disabled=len(ids) != 1, key="history_describe"):
        details_dialog(rows[0])
    duplicate_help = "Fill in the form of Explore with the question, answer and settings of the run."
    if st.button("Duplicate", disabled=len(ids) != 1, key="history_duplicate", help=duplicate_help):
        history.duplicate(ids[0])
    st.download_button(
        "Export",
        history.exporter(ids),
        FILE,
        "application/zip",
        on_click="ignore",
        disabled=not ids,
        key="history_export_some",
        help="The selected runs as one file, which can be imported elsewhere.",
    )
    st.button(
        "Delete",
        on_click=history.delete,
        args=(ids,),
        disabled=not ids,
        key="history_delete",
        help=f"They can be brought back for {KEPT_HOURS} hours.",
    )
    hint(rows, "Select one run, or two to compare.")


def hint(rows: Sequence[HistoryRow], otherwise: str) -> None:
    small(f"{plural(len(rows), 'run')} selected." if rows else otherwise)


def pager(found: HistoryPage) -> None:
    """Show which rows these are, and buttons for the other pages."""
    first = history.first_row()
    last = first + len(found.rows)
    with st.container(key="history_pager", horizontal=True, vertical_alignment="center"):
        small(
            plural(found.total, "run") if last - first == found.total else f"{first + 1}–{last} of {found.total:,} runs"
        )
        if first:
            st.button(
                "Previous",
                on_click=history.turn,
                args=(-history.PER_PAGE,),
                key="history_previous",
                help="The page of newer runs.",
            )
        if last < found.total:
            st.button(
                "Next",
                on_click=history.turn,
                args=(history.PER_PAGE,),
                key="history_next",
                help="The page of older runs.",
            )


inputs.begin("history", compare=history.load_compared)
styles()
store().purge()
reports = history.compared()
if reports is None:
    lead("The runs that you have started in this browser. Open one, describe it, or select two to compare.")
    page()
else:
    comparison(reports)
