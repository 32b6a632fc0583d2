"""Title, tags and note of a run."""

from __future__ import annotations

import streamlit as st

from attribution.errors import AttributionError
from attribution.storage.history import MAX_NOTE, MAX_TITLE, HistoryRow
from pages.ui.frame import note
from pages.ui.slot import store


@st.dialog("Title, tags and note", width="medium")
def details_dialog(row: HistoryRow) -> None:
    """Change them; only this browser sees them."""
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
            sorted({*store().tags(), *row.tags}),
            list(row.tags),
            key=f"tags-{row.id}",
            accept_new_options=True,
            placeholder="Choose, or type a new one and press Enter",
            help="Words to find runs by; the list can be narrowed to one.",
        )
        text = st.text_area(
            "Note",
            row.note,
            key=f"note-{row.id}",
            max_chars=MAX_NOTE,
            height=140,
            help="Anything to remember. Search finds its words, and exports contain it.",
        )
        saved = st.form_submit_button("Save", type="primary", help="Keep title, tags and note with the run.")
    if saved:
        try:
            store().describe(row.id, title, tags, text)
        except AttributionError as error:
            note("Not saved", str(error), label="contradicted")
            return
        st.rerun()
