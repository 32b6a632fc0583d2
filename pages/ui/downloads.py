"""A result as files to download."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st


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
