"""Offer results as files to download."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from attribution.reports import FORMATS, Exported, export, file_name


def downloads(files: Mapping[str, tuple[str, str, str]]) -> None:
    """A button for each form: its name with content, file name and media type."""
    for column, (name, (content, file, kind)) in zip(st.columns(len(files)), files.items(), strict=True):
        data = content.encode("utf-8-sig" if name == "CSV" else "utf-8")  # spreadsheets need the mark
        column.download_button(
            f"Download {name}",
            data,
            file,
            kind,
            on_click="ignore",
            key=f"download-{name}",
            width="stretch",
            help="The same result as a file.",
        )


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
