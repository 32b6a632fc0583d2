"""The menu that downloads a finished run in each format."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attribution.exports import FORMATS, Exported, export, file_name

MENU = "export"


def menu(exported: Exported) -> None:
    """A line for each format, which says what it is for. A file is made when it is asked for."""
    with (
        st.popover("Export", key=MENU, help="Download this run as a file."),
        st.container(key="exports", gap=None),
    ):
        for name, form in FORMATS.items():
            st.download_button(
                f"**{form.label}** {form.note}",
                partial(export, name, exported),
                file_name(name, exported),
                form.media_type,
                on_click="ignore",
                key=f"export-{name}",
                type="tertiary",
            )
