"""Answers: every run of this browser and the queue, to review, compare, export and describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from attribution.errors import AttributionError, BadInput
from attribution.pipeline.queued_runs import QueueWorker, queue_worker
from attribution.reports.html import el, plural
from attribution.settings import Settings
from attribution.store.history import (
    MAX_NOTE,
    MAX_SEARCH,
    MAX_TITLE,
    HistoryQuery,
    HistoryRow,
    State,
)
from pages.ui import background, frame, run_control, state
from pages.ui.answer_list import DIALOG, add_many, export_dialog, is_busy, row_data
from pages.ui.components import answer_list
from pages.ui.frame import note, show, small
from pages.ui.state import store

PER_PAGE = 50
MOST = 1_000  # runs that can be listed
ACT, SHOWN, ROUND = "answers_act", "answers_shown", "answers_round"
POLL = 1.0  # seconds between two looks at the queue
STATES: dict[State, str] = {
    "all": "All",
    "to_review": "To review",
    "reviewed": "Reviewed",
    "unfinished": "Queue",
}
ORDERS = ("Newest first", "Oldest first")


def worker() -> QueueWorker:
    """Return the worker of this server's queue."""
    return queue_worker(Settings.from_environment().database_url)


# --- the list ---


def head(totals: Mapping[str, int]) -> None:
    """Draw the heading, what was reviewed, and the two buttons of the page."""
    with st.container(key="answers_head", horizontal=True, vertical_alignment="center"):
        answers = totals["all"]
        claims = plural(totals["checked_claims"], "claim")
        reviewed = f"{totals['reviewed_claims']:,} of {claims} reviewed"
        counts = f"{plural(answers, 'answer')}, {reviewed}" if answers else ""
        show(el("div", el("h2", "Answers"), el("span", counts), class_="ax-title"))
        help = "Check many answers one after another."
        if st.button("Add many", key="add_many", icon=":material/add:", help=help):
            add_many(worker())
        if st.button(
            "Review next claim",
            type="primary",
            key="review_next",
            disabled=not totals["to_review"],
            help="Open the first answer with a claim that you have not assessed (key: n).",
        ):
            review_next()


def tools(totals: Mapping[str, int]) -> HistoryQuery:
    """Draw search and filters, and return the query for the list."""
    turn = state.count(ROUND)  # new keys clear the filters
    with st.container(key="answers_tools", horizontal=True, vertical_alignment="center"):
        with st.container(key="answers_words", width=330):
            words = st.text_input(
                "Search",
                key=f"answers_words-{turn}",
                placeholder="Words of a question, claim or tag",
                icon=":material/search:",
                max_chars=MAX_SEARCH,
                label_visibility="collapsed",
                on_change=state.put,
                args=(SHOWN, PER_PAGE),
            )
        shown = st.segmented_control(
            "Show",
            list(STATES),
            default="all",
            format_func=lambda name: f"{STATES[name]} {totals[name]:,}",
            key=f"answers_state-{turn}",
            label_visibility="collapsed",
        )
        tag = st.selectbox(
            "Tag",
            ["", *store().history.tags()],
            format_func=lambda name: name or "Tag: any",
            key=f"answers_tag-{turn}",
            label_visibility="collapsed",
            width=150,
        )
        order = st.selectbox(
            "Order",
            ORDERS,
            key=f"answers_order-{turn}",
            label_visibility="collapsed",
            width=150,
        )
    limit = int(state.get(SHOWN) or PER_PAGE)
    return HistoryQuery(words or "", tag or "", shown or "all", order == ORDERS[1], limit)


def listing(query: HistoryQuery, polling: bool) -> None:
    """Draw the list; what is clicked in it is carried out when the whole page is drawn again."""
    listed = store().history.find(query)
    rows = [row_data(row, worker()) for row in listed.rows]
    if polling != is_busy(rows) and not state.get(DIALOG):
        st.rerun()
    act = answer_list({"rows": rows, "total": listed.total}, key="answer_list")
    if isinstance(act, Mapping):
        state.put(ACT, act)
        st.rerun()


def page() -> None:
    """Draw the page."""
    state.put(DIALOG, False)
    totals = store().history.totals()
    head(totals)
    query = tools(totals)
    act, rows = state.get(ACT), {}
    state.put(ACT, None)
    try:
        rows = {row.id: row for row in store().history.find(query).rows}
        if act:
            perform(act, rows, query)
    except AttributionError as error:
        note("That was not possible", error.public(), label="contradicted")
        return
    if not rows:
        nothing(query)
        return
    busy = is_busy([row_data(row, worker()) for row in rows.values()])
    st.fragment(listing, run_every=POLL if busy else None)(query, busy)


def nothing(query: HistoryQuery) -> None:
    """Explain why the list is empty."""
    if query == HistoryQuery(oldest_first=query.oldest_first, limit=query.limit):
        line = "Every answer that you check in this browser is listed here."
        note("No answers yet", line, "“Add many” checks a whole file of them.")
        return
    note("No answer matches", "Search for other words, or clear the filters.")
    st.button("Clear search and filters", on_click=state.renew, args=(ROUND,), key="answers_clear")


# --- what is done with answers ---


def perform(act: Mapping[str, Any], rows: Mapping[str, HistoryRow], query: HistoryQuery) -> None:
    """Carry out what was clicked in the list; ids of other rows are ignored."""
    given = act.get("ids")
    ids = [run_id for run_id in rows if isinstance(given, list) and run_id in given]
    match act.get("kind"):
        case "more":
            state.put(SHOWN, min(query.limit + PER_PAGE, MOST))
            st.rerun()
        case "next":
            review_next()
    if not ids:
        return
    match act.get("kind"):
        case "open":
            open_run(ids[0])
        case "stop":
            stop(ids[0])
        case "retry":
            store().queue.add(ids[0])
            worker().wake()
        case "remove" | "delete":
            delete_dialog(ids)
        case "compare" if len(ids) == 2:
            st.switch_page("pages/compare.py", query_params={"answers": "-".join(ids)})
        case "export":
            export_dialog(ids)
        case "tag":
            tag_dialog([rows[run_id] for run_id in ids])
        case "edit":
            details_dialog(rows[ids[0]])


def open_run(run_id: str) -> None:
    """Show a run on Check."""
    run_control.open_run(run_id)
    state.remember()
    st.switch_page("pages/check.py", query_params={"run": run_id})


def review_next() -> None:
    """Open the newest run with a claim that was not assessed."""
    run_id = store().history.next_to_review()
    if run_id:
        open_run(run_id)


def stop(run_id: str) -> None:
    """End a run with the results it has, wherever it was started."""
    job = background.find(run_id)
    if job:
        job.stop()
    else:
        worker().stop(run_id)


@st.dialog("Delete the selected answers?", on_dismiss="rerun")
def delete_dialog(run_ids: Sequence[str]) -> None:
    """Delete runs for good, once that is confirmed."""
    state.put(DIALOG, True)
    small("They are deleted for good, with your assessments and notes.")
    if st.button(
        f"Delete {plural(len(run_ids), 'answer')}",
        on_click=delete,
        args=(run_ids,),
        type="primary",
        key="delete",
        help="This cannot be undone.",
    ):
        st.rerun()


def delete(run_ids: Sequence[str]) -> None:
    """Delete runs, which are stopped first."""
    for run_id in run_ids:
        stop(run_id)
        store().runs.delete(run_id)


@st.dialog("Tag the selected answers", on_dismiss="rerun")
def tag_dialog(rows: Sequence[HistoryRow]) -> None:
    """Add tags to several runs."""
    state.put(DIALOG, True)
    tags = st.multiselect(
        "Tags",
        store().history.tags(),
        help="Choose tags, or type a new one and press Enter.",
        accept_new_options=True,
        placeholder="Choose, or type a new one and press Enter",
    )
    if not st.button("Add the tags", type="primary", disabled=not tags):
        return
    try:
        for row in rows:
            store().history.describe(row.id, row.title, [*row.tags, *tags], row.note)
    except BadInput as error:
        note("Not saved", error.public(), label="contradicted")
        return
    st.rerun()


@st.dialog("Title, tags and note", width="medium", on_dismiss="rerun")
def details_dialog(row: HistoryRow) -> None:
    """Describe a run, which only this browser sees, or copy it."""
    state.put(DIALOG, True)
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
        help="The list can be filtered by tag.",
        key=f"tags-{row.id}",
        accept_new_options=True,
        placeholder="Choose, or type a new one and press Enter",
    )
    text = st.text_area(
        "Note",
        row.note,
        key=f"note-{row.id}",
        max_chars=MAX_NOTE,
        height=140,
        help="Anything worth remembering. It is searched and exported with the run.",
    )
    with st.container(horizontal=True):
        saved = st.button("Save", type="primary", key="details_save")
        copied = st.button("Make a copy", key="details_copy", disabled=not row.finished)
    try:
        if saved:
            store().history.describe(row.id, title, tags, text)
        if copied:
            store().runs.copy(row.id)
    except AttributionError as error:
        note("Not saved", error.public(), label="contradicted")
        return
    if saved or copied:
        st.rerun()


if __name__ == "__main__":
    state.begin("answers")
    frame.styles("answers")
    page()
