"""History: the runs that this browser has started, to find, describe, compare and delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from attribution.errors import AttributionError, BadInput
from attribution.reports.html import look, plural, style_class
from attribution.store.history import (
    KEPT_HOURS,
    MAX_NOTE,
    MAX_SEARCH,
    MAX_TITLE,
    HistoryPage,
    HistoryQuery,
    HistoryRow,
    Order,
    State,
)
from attribution.types import BADGES
from pages.ui import background, frame, run_control, state
from pages.ui.components import run_list
from pages.ui.frame import note, small
from pages.ui.run_comparison import comparison, when
from pages.ui.state import store

PER_PAGE = 50
UNDO, COMPARED, ROUND, FIRST = "history_undo", "history_compared", "history_round", "history_first"
STATES: dict[State, str] = {
    "all": "All",
    "finished": "Finished",
    "unfinished": "Not finished",
    "deleted": "Deleted",
}
ORDERS: dict[Order, str] = {"newest": "Newest first", "oldest": "Oldest first", "title": "By title"}
SOURCE_WORDS = {
    "library": "Library",
    "web": "Web",
    "collection": "Collection",
    "documents": "Documents",
}


# --- the list ---


def key(name: str) -> str:
    """Return the key of a filter's widget; clearing the filters gives them new keys."""
    return f"history_{name}-{state.count(ROUND)}"


def clear_filters() -> None:
    """Show all runs from the first."""
    state.renew(ROUND)
    turn_to(0)


def turn_to(first: int) -> None:
    """Show the rows from this one on."""
    state.put(FIRST, max(0, first))


def from_start() -> None:
    """Show the first rows, after a filter has changed."""
    turn_to(0)


def filters(tags: Sequence[str]) -> HistoryQuery:
    """Draw the filters and return the query for the list."""
    with st.container(key="history_filters", horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Search",
            key=key("words"),
            placeholder="Words of the question, answer, claims, title, tags or note",
            help="Runs in which all of these words occur.",
            on_change=from_start,
            max_chars=MAX_SEARCH,
        )
        help = "Narrow the list by verdict and tag."
        with st.popover("Filters", key="history_popover", help=help):
            verdicts = {name: look(name).word for name in BADGES}
            verdict = _choice("Has a claim that is", "verdict", verdicts)
            tag = _choice("Tag", "tag", {tag: tag for tag in tags})
            order = st.selectbox(
                "Order",
                list(ORDERS),
                format_func=ORDERS.__getitem__,
                key=key("order"),
                on_change=from_start,
                help="The order of the list.",
            )
            st.button("Clear all filters", on_click=clear_filters, key="history_clear")
    shown = st.segmented_control(
        "Show",
        list(STATES),
        default="all",
        format_func=STATES.__getitem__,
        key=key("state"),
        on_change=from_start,
        label_visibility="collapsed",
        help="Unfinished runs can be continued, deleted ones restored for a day.",
    )
    return HistoryQuery(
        words=words or "",
        tag=tag,
        verdict=verdict,
        state=shown or "all",
        order=order,
        offset=state.get(FIRST) or 0,
        limit=PER_PAGE,
    )


def _choice(label: str, name: str, options: Mapping[str, str]) -> str:
    """Draw a choice of one option; empty for any."""
    return st.selectbox(
        label,
        ["", *options],
        format_func=lambda option: options.get(option, "Any"),
        key=key(name),
        on_change=from_start,
        help="Lists only such runs.",
    )


def page() -> None:
    """Draw the list with its tools."""
    query = filters(store().history.tags())
    try:
        listed = store().history.find(query)
    except BadInput as error:
        note("Nothing was searched", error.public(), label="contradicted")
        return
    undo()
    if not listed.rows:
        nothing(query)
        return
    tools = st.container(key="history_tools", horizontal=True)
    data = {"rows": [line(row, background.find(row.id) is not None) for row in listed.rows]}
    opened, selected = run_list(data, key="history_list")
    for row in listed.rows:
        if row.id == opened:
            open_run(row.id)
    with tools:
        toolbar(picked(selected, listed.rows), query.state == "deleted")
    pager(listed, query.offset)


def picked(selected: object, rows: Sequence[HistoryRow]) -> list[HistoryRow]:
    """Return the selected rows of the list, in order."""
    return [row for row in rows if isinstance(selected, list) and row.id in selected]


def line(row: HistoryRow, running: bool) -> dict[str, object]:
    """Return a run as plain data for `run_list`."""
    counts = {label: row.verdicts[label] for label in BADGES if label in row.verdicts}
    waiting = row.claims - sum(counts.values())
    if waiting > 0:
        counts.setdefault("not_reached", waiting)
    drawn = [
        {
            "style": style_class(label),
            "icon": look(label).icon,
            "n": count,
            "words": f"{count} {look(label).noun}",
        }
        for label, count in counts.items()
    ]
    unfinished = "Running now" if running else "Not finished"
    return {
        "id": row.id,
        "name": row.name or "Untitled",
        "meta": " · ".join(filter(None, meta(row))),
        "state": "" if row.finished else unfinished,
        "tags": list(row.tags),
        "note": " ".join(row.note.split())[:200],
        "deleted": bool(row.deleted_at),
        "counts": drawn,
    }


def meta(row: HistoryRow) -> list[str]:
    """Describe a run: when it was made, its sources, number of claims and state."""
    return [
        when(row.created_at),
        ", ".join(SOURCE_WORDS.get(source, source) for source in row.sources),
        plural(row.claims, "claim") if row.claims else "",
        "edited" if row.version > 1 else "",
        "private" if row.private else "",
        f"deleted {when(row.deleted_at)}" if row.deleted_at else "",
    ]


def nothing(query: HistoryQuery) -> None:
    """Explain why the list is empty."""
    if query.state == "deleted":
        line = f"A run that you delete can be restored here for {KEPT_HOURS} hours."
        note("No deleted runs", line)
    elif query == HistoryQuery(order=query.order, offset=query.offset, limit=query.limit):
        note(
            "No runs yet", "Every answer that you analyse in this browser is saved and listed here."
        )
    else:
        note("No run matches", "Search for other words, or clear the filters.")
        st.button("Clear search and filters", on_click=clear_filters, key="history_clear_all")


def pager(listed: HistoryPage, first: int) -> None:
    """Draw which rows these are, and buttons for the other pages."""
    last = first + len(listed.rows)
    with st.container(key="history_pager", horizontal=True, vertical_alignment="center"):
        if len(listed.rows) == listed.total:
            small(plural(listed.total, "run"))
            return
        small(f"{first + 1}–{last} of {listed.total:,} runs")
        st.button(
            "Previous",
            on_click=turn_to,
            args=(first - PER_PAGE,),
            disabled=first == 0,
            key="history_previous",
            help="Newer runs.",
        )
        st.button(
            "Next",
            on_click=turn_to,
            args=(first + PER_PAGE,),
            disabled=last >= listed.total,
            key="history_next",
            help="Older runs.",
        )


# --- one run or several ---


def toolbar(rows: Sequence[HistoryRow], deleted: bool) -> None:
    """Draw the buttons for the selected runs."""
    ids = [row.id for row in rows]
    if deleted:
        deleted_tools(ids)
        return
    one = len(ids) == 1
    if st.button(
        "Open",
        disabled=not one,
        key="history_open",
        help="Open the run on Check.",
    ):
        open_run(ids[0])
    st.button(
        "Compare",
        on_click=compare,
        args=(ids,),
        disabled=len(ids) != 2,
        key="history_compare",
        help="Select two runs to see which verdicts changed.",
    )
    if st.button("Title, tags, note", disabled=not one, key="history_describe"):
        details_dialog(rows[0])
    st.button(
        "Delete",
        on_click=delete,
        args=(ids,),
        disabled=not ids,
        key="history_delete",
        help=f"They can be restored for {KEPT_HOURS} hours.",
    )
    small(f"{plural(len(ids), 'run')} selected." if ids else "Select one run, or two to compare.")


def deleted_tools(ids: Sequence[str]) -> None:
    """Draw the buttons for deleted runs."""
    st.button(
        "Restore",
        on_click=restore,
        args=(ids,),
        disabled=not ids,
        key="history_restore",
        help="Bring the selected runs back into the list.",
    )
    help = "Remove the selected runs from the database."
    with st.popover("Delete for good", disabled=not ids, help=help):
        small("The runs are removed at once, with the texts that no other run uses.")
        st.button(
            "Delete",
            type="primary",
            on_click=delete_for_good,
            args=(ids,),
            key="history_for_good",
            help="They cannot be restored.",
        )


@st.dialog("Title, tags and note", width="medium")
def details_dialog(row: HistoryRow) -> None:
    """Edit a run's title, tags and note; only this browser sees them."""
    with st.form("history_details", border=False):
        title = st.text_input(
            "Title",
            row.title,
            key=f"title-{row.id}",
            max_chars=MAX_TITLE,
            placeholder=row.name[:80],
            help="Shown in the list in place of the question.",
        )
        tags = st.multiselect(
            "Tags",
            sorted({*store().history.tags(), *row.tags}),
            list(row.tags),
            key=f"tags-{row.id}",
            accept_new_options=True,
            placeholder="Choose, or type a new one and press Enter",
            help="Words to find runs by, also in the filters.",
        )
        text = st.text_area(
            "Note",
            row.note,
            key=f"note-{row.id}",
            max_chars=MAX_NOTE,
            height=140,
            help="Anything worth remembering. It is searched and exported with the run.",
        )
        saved = st.form_submit_button("Save title, tags and note", type="primary")
    if not saved:
        return
    try:
        store().history.describe(row.id, title, tags, text)
    except AttributionError as error:
        note("Not saved", error.public(), label="contradicted")
        return
    st.rerun()


def open_run(run_id: str) -> None:
    """Show a run on Check."""
    run_control.open_run(run_id)
    state.remember()
    st.switch_page("pages/check.py", query_params={"run": run_id})


def delete(run_ids: Sequence[str]) -> None:
    """Delete runs; they can be restored."""
    store().history.put_aside(run_ids)
    state.put(UNDO, tuple(run_ids))


def restore(run_ids: Sequence[str]) -> None:
    """Bring deleted runs back."""
    store().history.restore(run_ids)
    state.put(UNDO, None)


def delete_for_good(run_ids: Sequence[str]) -> None:
    """Remove runs from the database."""
    for run_id in run_ids:
        store().runs.delete(run_id)
    state.put(UNDO, None)


def undo() -> None:
    """Offer to restore the runs that were deleted last."""
    run_ids = state.get(UNDO)
    if not run_ids:
        return
    with st.container(key="history_undo_line", horizontal=True, vertical_alignment="center"):
        note(f"{plural(len(run_ids), 'run')} deleted", f"Under “Deleted” for {KEPT_HOURS} hours.")
        st.button(
            "Undo",
            on_click=restore,
            args=(run_ids,),
            key="history_undo",
            help="Restore what was deleted.",
        )


# --- two runs ---


def compare(run_ids: Sequence[str]) -> None:
    """Compare two runs, until `compare(())`."""
    state.put(COMPARED, tuple(run_ids))
    if run_ids:
        state.show_address(compare="-".join(run_ids))
    else:
        st.query_params.pop("compare", None)


def compared_runs(run_ids: Sequence[str]) -> None:
    """Draw the comparison of two runs, the earlier one first."""
    st.button(
        "Back to the list",
        on_click=compare,
        args=((),),
        key="history_back",
    )
    database, reports = store(), []
    for run_id in run_ids:
        if database.rights.access(run_id).own:
            report = database.runs.load(run_id) or database.runs.load_unfinished(run_id)
            reports += [report] if report else []
    comparison(sorted(reports, key=lambda report: report.created_at))


if __name__ == "__main__":
    frame.begin(
        "history",
        "History",
        "Find the runs that were started in this browser; open one, describe it, or select two to "
        "compare.",
        compare=lambda address: compare(address.split("-")[:2]),
    )
    store().history.purge()
    run_ids = state.get(COMPARED)
    if run_ids:
        compared_runs(run_ids)
    else:
        page()
