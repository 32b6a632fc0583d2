"""Export the claims of many answers as one sheet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attribution.reports import Exported
from attribution.reports.html import plural
from attribution.reports.listings import SHEETS, Sheet
from pages.ui.frame import small
from pages.ui.state import store


@st.dialog("Export as one sheet")
def export_dialog(run_ids: Sequence[str]) -> None:
    """Offer the claims of these runs in each format; runs without a result are left out."""
    small(f"A row for each claim of {plural(len(run_ids), 'answer')}.")
    database = store()

    def exported() -> list[Exported]:
        runs: list[Exported] = []
        for run_id in run_ids:
            report = database.runs.load(run_id)
            about = database.history.description(run_id)
            if report:
                runs.append(Exported(report, about.title, about.note))
        return runs

    def content(sheet: Sheet) -> bytes:
        return sheet.write(*exported())

    with st.container(horizontal=True):
        for sheet in SHEETS:
            st.download_button(
                sheet.label,
                partial(content, sheet),
                f"answers{sheet.suffix}",
                sheet.media_type,
                help="One row per claim, with its assessment, verdict, quote and source.",
                on_click="ignore",
                key=f"sheet{sheet.suffix}",
            )
