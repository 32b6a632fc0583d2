"""Read what a visitor uploads, and offer results as files."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from attribution.errors import BadInput
from attribution.evidence.sources import safe_name
from attribution.files import Row, parse_rows
from attribution.reports import FORMATS, Exported, export, file_name
from attribution.reports.html import plural
from attribution.settings import LIMITS
from attribution.types import Document, Page
from pages.ui.frame import note, small

LIMIT = 500  # answers of one file
KEPT = 200_000_000  # bytes of PDF files in memory, for pictures of their pages
_pdfs: OrderedDict[tuple[str, str], Document] = (
    OrderedDict()
)  # by run and page; the latest is the last
_lock = threading.Lock()


def keep_pdf(run_id: str, page: Page, documents: Sequence[Document]) -> None:
    """Keep the PDF that a page of a run was read from in this process: a run itself keeps only what
    was read.
    """
    file = next((d for d in documents if page.url == f"document:{safe_name(d.name)}"), None)
    if file is None or not page.breaks or not file.content.startswith(b"%PDF-"):
        return
    with _lock:
        _pdfs[run_id, page.id] = file
        _pdfs.move_to_end((run_id, page.id))
        while sum(len(one.content) for one in _pdfs.values()) > KEPT:
            _pdfs.popitem(last=False)


def kept_pdf(run_id: str, page: Page) -> Document | None:
    """Return the PDF that a page was read from, if it is still in memory. A copy of the run has
    none.
    """
    with _lock:
        return _pdfs.get((run_id, page.id))


def sample(content: str, name: str) -> None:
    """Offer an example of a file that the page reads."""
    st.download_button(
        "Download a sample file", content, name, "application/json", on_click="ignore", key="sample"
    )


def read_answers(content: bytes, optional: Sequence[str] = ("question",)) -> list[Row]:
    """Read the answers of a JSON Lines file, bad lines among them. Raises BadInput for none, or for
    too many.
    """
    rows = parse_rows(content, ["answer"], list(optional))
    if len(rows) > LIMIT:
        raise BadInput(
            f"The file has {len(rows):,} answers, and this page takes {LIMIT}: split the file."
        )
    return rows


def many_answers(
    verb: str,
    start: Callable[[Sequence[Row]], None],
    ready: bool,
    about: str,
    example: str,
    *optional: str,
) -> None:
    """Offer to do with every answer of a file what the page does with one."""
    with st.expander("Many answers at once"):
        small(about)
        sample(example, "answers.jsonl")
        upload = st.file_uploader(
            "Answers",
            ["jsonl", "json", "txt"],
            key="answers_file",
            help=f"JSON Lines, at most {LIMIT} answers.",
            max_upload_size=LIMITS.file_mb,
        )
        rows: list[Row] = []
        if upload is not None:
            try:
                rows = read_answers(upload.getvalue(), optional)
            except BadInput as error:
                note("This file cannot be used", error.public(), label="contradicted")
        label = f"{verb} {plural(len(rows), 'answer')}" if rows else f"{verb} the answers"
        st.button(
            label,
            on_click=start,
            args=(rows,),
            disabled=not (rows and ready),
            key="start_many",
            help="With the sources and methods chosen above.",
        )


Files = Mapping[
    str, tuple[str | Callable[[], str], str, str]
]  # by their labels: the content, file name and media type


def downloads(files: Files) -> None:
    """Draw a button for each file."""
    for column, (label, (content, name, kind)) in zip(
        st.columns(len(files)), files.items(), strict=True
    ):
        column.download_button(
            f"Download {label}",
            partial(_encoded, label, content),
            name,
            kind,
            on_click="ignore",
            key=f"download-{name}",
            width="stretch",
            help="The same result as a file.",
        )


def _encoded(label: str, content: str | Callable[[], str]) -> bytes:
    text = content if isinstance(content, str) else content()
    return text.encode("utf-8-sig" if "CSV" in label else "utf-8")  # spreadsheets need the mark


def copy_or_download(files: Files) -> None:
    """Show each file to copy from, and offer it to download."""
    with st.expander(f"Copy as {' or '.join(', '.join(files).rsplit(', ', 1))}"):
        chosen = st.segmented_control(
            "Format",
            list(files),
            default=next(iter(files)),
            key="copy_format",
            required=True,
            help="The format in which the result is shown below.",
        )
        content = files[chosen or next(iter(files))][0]
        st.code(content if isinstance(content, str) else content(), language=None, height=320)
    downloads(files)


def menu(exported: Exported) -> None:
    """Draw a menu with a line for each format of a run."""
    with (
        st.popover("Export", key="export", help="Download this run."),
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
