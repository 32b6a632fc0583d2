"""All runs to a file, and back."""

from __future__ import annotations

import streamlit as st

from attribution.snapshots.package import FILE_LIMIT
from pages.ui.frame import note, small
from pages.ui.history import state
from pages.ui.html.render import plural

FILE = "attribution-history.zip"


def transfer(total: int) -> None:
    """Export and import, folded."""
    with st.expander("Export and import"):
        small(
            "A file with your runs: reports, earlier versions, pages, titles, tags and notes. Runs that did not finish "
            "are in it as stopped ones."
        )
        st.download_button(
            "Export all runs",
            state.exporter(),
            FILE,
            "application/zip",
            on_click="ignore",
            key="history_export",
            disabled=not total,
        )
        uploaded = st.file_uploader(
            "Import a file",
            ["zip"],
            help="A file made by the export, here or elsewhere.",
            key=state.key("file"),
            max_upload_size=FILE_LIMIT // 1_000_000,
        )
        st.button(
            "Import the file",
            on_click=state.import_file,
            args=(uploaded,),
            disabled=uploaded is None,
            key="history_import",
        )
    result = state.imported()
    if isinstance(result, str):
        note("Nothing was imported", result, label="contradicted")
    elif result:
        known = f" {plural(result.known, 'run')} of the file {'is' if result.known == 1 else 'are'} here already."
        note(f"{plural(len(result.ids), 'run')} imported", known if result.known else "They are in the list.")
