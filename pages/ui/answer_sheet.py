"""Export the claims of many answers as one sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from attribution.reports import FORMATS, Exported
from attribution.reports.html import plural
from attribution.reports.listings import SHEETS
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

    def content(write: Callable[..., bytes]) -> bytes:
        return write(*exported())

    with st.container(horizontal=True):
        for name, write in SHEETS.items():
            st.download_button(
                FORMATS[name].label,
                partial(content, write),
                f"answers.{name}",
                FORMATS[name].media_type,
                help="One row per claim, with its assessment, verdict, quote and source.",
                on_click="ignore",
                key=f"sheet.{name}",
            )
