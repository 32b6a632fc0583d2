"""Search and filters of the list."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attribution.storage.history import HistoryQuery, Order, State
from attribution.storage.summaries import SOURCES
from attribution.types import LABELS
from pages.ui.history import state
from pages.ui.history.list import SOURCE_WORDS
from pages.ui.html.render import look

STATES: dict[State, str] = {
    "all": "All",
    "finished": "Finished",
    "unfinished": "Not finished",
    "deleted": "Deleted",
}
ORDERS: dict[Order, str] = {"newest": "Newest first", "oldest": "Oldest first", "title": "By title"}


def filters(tags: Sequence[str]) -> HistoryQuery:
    """Draw them; returns what to list."""
    with st.container(key="history_filters", horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Search",
            key=state.key("words"),
            placeholder="Words of the question, answer, claims, title, tags or note",
            help="Runs in which all of these words occur.",
            on_change=state.from_start,
        )
        with st.popover(
            "Filters", key="history_popover", help="Narrow the list by verdict, source, tag, date and state."
        ):
            verdict = _choice(
                "Has a claim that is", "verdict", {k: look(k).word for k in LABELS}, "Runs with such a verdict."
            )
            source = _choice("Sources", "source", {k: SOURCE_WORDS[k] for k in SOURCES}, "Where pages came from.")
            tag = _choice("Tag", "tag", {tag: tag for tag in tags}, "Tags that you gave.")
            days = st.date_input(
                "Days",
                [],
                key=state.key("days"),
                on_change=state.from_start,
                format="YYYY-MM-DD",
                help="When the run was started: the first and the last day.",
            )
            order = st.selectbox(
                "Order",
                list(ORDERS),
                format_func=ORDERS.__getitem__,
                key=state.key("order"),
                help="Of the list.",
                on_change=state.from_start,
            )
            st.button("Clear all filters", on_click=state.clear_filters, key="history_clear")
    shown = st.segmented_control(
        "Show",
        list(STATES),
        default="all",
        format_func=STATES.__getitem__,
        key=state.key("state"),
        help="Unfinished runs can be continued, deleted ones restored for a day.",
        on_change=state.from_start,
        label_visibility="collapsed",
    )
    since, until = (*days, None, None)[:2] if isinstance(days, tuple) else (days, days)
    return HistoryQuery(
        words=words or "",
        tag=tag,
        verdict=verdict,
        source=source,
        since=since,
        until=until,
        state=shown or "all",
        order=order,
        offset=state.first_row(),
        limit=state.PER_PAGE,
    )


def _choice(label: str, name: str, options: dict[str, str], help: str) -> str:
    """One of the options, or any; empty for any."""
    return st.selectbox(
        label,
        ["", *options],
        format_func=lambda option: options.get(option, "Any"),
        key=state.key(name),
        on_change=state.from_start,
        help=help,
    )


def is_narrowed(query: HistoryQuery) -> bool:
    """Whether a run may be left out."""
    return any(
        (query.words.strip(), query.tag, query.verdict, query.source, query.since, query.until, query.state != "all")
    )
