"""Library: named collections of documents, kept for all who use this server."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import partial

import streamlit as st

from attribution.collections import ingest
from attribution.collections import search as hybrid
from attribution.collections.ingest import Item, ItemResult, from_addresses, from_upload
from attribution.collections.store import CollectionSummary, DocumentStore, check_name
from attribution.errors import AttributionError
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.types import Document
from pages.ui import state
from pages.ui.collections import view as library_view
from pages.ui.collections.job import LibraryJob
from pages.ui.controls import DOCUMENT_TYPES, quiet
from pages.ui.frame import styles
from pages.ui.html.render import el, plural
from pages.ui.run.answer_view import source_view
from pages.ui.run.results import note, show

POLL = 0.5  # seconds between looks at documents that are being added
JOB, ROUND, ASKED = "library", "library_round", "library_asked"
NEW = "A new one …"
LISTED = 200  # documents offered for choosing at once


def store() -> Store:
    return Store.open(Settings.from_environment().database_url)


def add_form(kept: Sequence[CollectionSummary], running: bool) -> None:
    """Which collection, what goes into it, and the buttons."""
    show(el("p", "Add documents", class_="ax-section"))
    into = st.selectbox("Add to", [NEW, *(c.name for c in kept)], key="library_into")
    name = st.text_input("Name of the new collection", key="library_new") if into == NEW else into
    turn = state.kept(ROUND) or 0  # another key empties the inputs, once their content is on its way
    files = st.file_uploader(
        "Files",
        DOCUMENT_TYPES,
        accept_multiple_files=True,
        key=f"library_files-{turn}",
        help="Text, Markdown, HTML, PDF, DOCX or EPUB, at most 20 MB each. A whole folder of this server's is added "
        "with `python -m attribution collections add`.",
    )
    addresses = st.text_area(
        "Web addresses", key=f"library_addresses-{turn}", height=80, placeholder="https://…, one a line"
    )
    go, halt = st.columns(2)
    if go.button("Add", type="primary", disabled=running, key="library_add", width="stretch"):
        documents = [Document(f.name, f.getvalue(), f.type or "") for f in files]
        if problem := start(str(name or "").strip(), documents, addresses):
            note("Nothing was added", problem, label="contradicted")
        else:
            state.keep(ROUND, turn + 1)
            st.rerun()
    if halt.button("Stop", disabled=not running, key="library_stop", width="stretch", help="Keeps what is added."):
        state.kept(JOB).stop()


def start(name: str, documents: Sequence[Document], addresses: str) -> str:
    """Begin to add in the background, or say why not."""
    try:
        check_name(name)
        items = [*map(from_upload, documents), *from_addresses(addresses.splitlines())]
    except AttributionError as error:
        return str(error)
    if not items:
        return "Choose files or give web addresses first."
    settings = Settings.from_environment()

    def add(items: Sequence[Item], stop: threading.Event) -> Iterator[ItemResult]:
        return ingest.add(Store.open(settings.database_url), name, items, settings, stop=stop)

    def embed(stop: threading.Event) -> Iterator[tuple[int, int]]:
        return ingest.embed(Store.open(settings.database_url), name, hybrid.local_embedder(settings), stop)

    state.keep(JOB, LibraryJob(name, items, add, embed))
    return ""


def live(polling: bool) -> None:
    """How far adding is, and what could not be read."""
    job: LibraryJob | None = state.kept(JOB)
    if job is None:
        return
    now = job.progress()
    if polling and not now.running:
        st.rerun()  # the rest of the page has to hear of it too
    show(el("p", library_view.doing(now), class_="ax-status", role="status"))
    if now.running:
        value = f"{library_view.share(now):.3f}"
        show(el("progress", class_="ax-bar", value=value, max=1, aria_label="Progress of adding"))
    if now.broken:
        note("Adding ended early; what was added is kept", now.broken, label="contradicted")
    if now.failures:
        show(library_view.failures(now.failures))


def browse(kept: Sequence[CollectionSummary], running: bool) -> None:
    """One collection's documents: read one, remove one, or remove all."""
    show(el("p", "Read and remove", class_="ax-section"))
    chosen = st.selectbox("Documents of", [c.name for c in kept], key="library_chosen")
    held = next(c for c in kept if c.name == chosen)
    containing = st.text_input("Whose name or title contains", key="library_containing")
    rows = DocumentStore(store()).documents(chosen, containing, LISTED + 1)
    titles = {row["name"]: row["title"] for row in rows[:LISTED]}
    if len(rows) > LISTED:
        quiet(f"The first {LISTED} are offered: narrow them down by name or title.")
    document = st.selectbox(
        "Document",
        list(titles),
        format_func=lambda n: n if titles[n] == n else f"{n} — {titles[n]}",
        key=f"library_document-{chosen}-{containing}",  # a narrower list begins at its first
        placeholder="none",
    )
    read, drop, drop_all = st.columns(3)
    if read.button("Read it", disabled=document is None, key="library_read", width="stretch"):
        _text(chosen, document)
    if drop.button("Remove it", disabled=document is None or running, key="library_remove", width="stretch"):
        state.keep(ASKED, (chosen, document, 1))
    whole = "Remove the collection"
    if drop_all.button(whole, disabled=running, key="library_remove_all", width="stretch"):
        state.keep(ASKED, (chosen, None, held.documents))


@st.dialog("Source", width="medium")
def _text(collection: str, document: str) -> None:
    page = DocumentStore(store()).page(collection, document)
    if page is None:
        note("It is gone", "This document was removed meanwhile.")
        return
    facts = " · ".join(x for x in (page.site, page.published, page.reference) if x)
    show(el("div", el("h3", page.title, dir="auto"), el("p", facts, class_="ax-quiet"), class_="ax-source"))
    source_view(page, [0, 0, 0, 0], key=f"source-{page.id}")


def confirm() -> None:
    """What is about to be removed, and a way back."""
    if not (asked := state.kept(ASKED)):
        return
    collection, document, count = asked
    what = f"“{document}”" if document else f"“{collection}” with {plural(count, 'document')}"
    note(f"Remove {what} for everybody who uses this server?", "Saved runs keep the texts they used.")
    yes, no = st.columns(2)
    if yes.button("Remove", type="primary", key="library_yes", width="stretch"):
        state.keep(ASKED, None)
        try:
            DocumentStore(store()).remove(collection, document)
        except AttributionError as error:  # somebody else was first
            note("Nothing was removed", str(error))
            return
        st.rerun()
    if no.button("Keep", key="library_no", width="stretch"):
        state.keep(ASKED, None)
        st.rerun()


def page() -> None:
    """All of it; where the database can keep no collections, why."""
    try:
        kept = DocumentStore(store()).collections(hybrid.local_embedder(Settings.from_environment()).version)
    except AttributionError as error:
        note("No collections here", str(error), label="missing")
        return
    job: LibraryJob | None = state.kept(JOB)
    running = job is not None and job.running
    if kept:
        show(library_view.table(kept))
    else:
        note("No collection yet", "Give one a name, choose files or web addresses, and press Add.")
    add_form(kept, running)
    st.fragment(partial(live, running), run_every=POLL if running else None)()
    if kept:
        browse(kept, running)
        confirm()


state.begin("library")
styles()
show(
    el(
        "p",
        "Collections of documents to check answers against, beside the built-in library: tick them in the sidebar of "
        "Explore. They are kept in this server's database: everybody who uses this server sees them, can read what is "
        "in them, add to them and remove them. What only you should see belongs under “My documents”.",
        class_="ax-lead",
    )
)
page()
