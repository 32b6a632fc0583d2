"""Keep the PDF files of a run in memory, and offer results as files."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from attribution.evidence.sources import safe_name
from attribution.reports import FORMATS, Exported, export, file_name
from attribution.types import Document, Page

KEPT = 200_000_000  # bytes of PDF files in memory, for pictures of their pages
_pdfs: OrderedDict[tuple[str, str], Document] = OrderedDict()  # by run and page; latest last
_lock = threading.Lock()


def keep_pdf(run_id: str, page: Page, documents: Sequence[Document]) -> None:
    """Keep the PDF that a page was read from: a run itself keeps only its text."""
    file = next((d for d in documents if page.url == f"document:{safe_name(d.name)}"), None)
    if file is None or not page.breaks or not file.content.startswith(b"%PDF-"):
        return
    with _lock:
        _pdfs[run_id, page.id] = file
        _pdfs.move_to_end((run_id, page.id))
        while sum(len(one.content) for one in _pdfs.values()) > KEPT:
            _pdfs.popitem(last=False)


def kept_pdf(run_id: str, page: Page) -> Document | None:
    """Return the PDF that a page was read from, if it is still in memory; a copy has none."""
    with _lock:
        return _pdfs.get((run_id, page.id))


class File(NamedTuple):
    """A file to download; its content may be made when it is asked for."""

    content: str | Callable[[], str]
    name: str
    media_type: str

    def encoded(self) -> bytes:
        text = self.content if isinstance(self.content, str) else self.content()
        return text.encode("utf-8-sig" if self.name.endswith(".csv") else "utf-8")


def downloads(files: Mapping[str, File]) -> None:
    """Draw a button for each file, by its label."""
    with st.container(horizontal=True):
        for label, file in files.items():
            st.download_button(
                f"Download {label}",
                file.encoded,
                file.name,
                file.media_type,
                on_click="ignore",
                key=f"download-{file.name}",
                help="The same result as a file.",
            )


def export_buttons(exported: Exported) -> None:
    """Draw a line for each format of a run."""
    with st.container(key="exports", gap=None):
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
