"""Collections: named sets of documents that all users of this server share."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import streamlit as st

from attribution.errors import AttributionError
from attribution.library import ingest
from attribution.library import search as hybrid
from attribution.library.ingest import Item, ItemResult, from_addresses, from_upload
from attribution.library.store import CollectionSummary, DocumentStore, check_name
from attribution.reports.html import el, plural
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document
from pages.ui import state
from pages.ui.answer_view import source_view
from pages.ui.collections import IngestJob, collection_table, failure_table, share, status
from pages.ui.form import DOCUMENT_TYPES, FORMATS
from pages.ui.frame import lead, note, progress_bar, section, show, small, status_line, styles
from pages.ui.slot import store

POLL = 0.5  # seconds between looks at documents that are being added
JOB, ROUND, REMOVAL = "ingest", "ingest_round", "removal"
NEW = "New collection"
LISTED = 200  # documents offered for choosing at once


def add_form(collections: Sequence[CollectionSummary], running: bool) -> None:
    """Show the form that adds documents: the collection, what goes into it, and the buttons."""
    section("Add documents")
    into = st.selectbox(
        "Collection",
        [NEW, *(c.name for c in collections)],
        key="collection_into",
        help="Where the documents go: a new collection, or one that is there.",
    )
    name = (
        st.text_input(
            "Name of the new collection", key="collection_name", help="The name under which it appears in the sidebar."
        )
        if into == NEW
        else into
    )
    turn = state.get(ROUND) or 0  # new keys empty the inputs once their content is being added
    files = st.file_uploader(
        "Files",
        DOCUMENT_TYPES,
        accept_multiple_files=True,
        key=f"collection_files-{turn}",
        help=f"{FORMATS} To add a folder of this server, use `python -m attribution collections add`.",
    )
    addresses = st.text_area(
        "Web addresses",
        key=f"collection_addresses-{turn}",
        height=80,
        placeholder="https://…, one per line",
        help="Each page is downloaded and its text is kept.",
    )
    add, stop = st.columns(2)
    if add.button(
        "Add",
        type="primary",
        disabled=running,
        key="collection_add",
        width="stretch",
        help="Read the files and pages, and keep their text.",
    ):
        if problem := start(str(name or "").strip(), state.documents_of(files), addresses):
            note("Nothing was added", problem, label="contradicted")
        else:
            state.put(ROUND, turn + 1)
            st.rerun()
    stop_help = "The documents added so far are kept."
    if stop.button("Stop", disabled=not running, key="collection_stop", width="stretch", help=stop_help):
        state.get(JOB).stop()


def start(name: str, documents: Sequence[Document], addresses: str) -> str:
    """Start adding in the background, or return why not."""
    if not name:
        return "Type a name for the new collection first."
    try:
        check_name(name)
        items = [*map(from_upload, documents), *from_addresses(addresses.splitlines())]
    except AttributionError as error:
        return str(error)
    if not items:
        return "Choose files or give web addresses first."
    settings, browser = Settings.from_environment(), state.browser()

    def add(items: Sequence[Item], stop: threading.Event) -> Iterator[ItemResult]:
        return ingest.add(Store.open(settings.database_url), name, items, settings, stop=stop, owner=browser)

    def embed(stop: threading.Event) -> Iterator[tuple[int, int]]:
        return ingest.embed(Store.open(settings.database_url), name, hybrid.local_embedder(settings), stop)

    state.put(JOB, IngestJob(name, items, add, embed))
    return ""


def live(polling: bool) -> None:
    """Show how far adding is, and what could not be read."""
    job: IngestJob | None = state.get(JOB)
    if job is None:
        return
    now = job.progress()
    if polling and not now.running:
        st.rerun()  # the rest of the page has to change too
    status_line(status(now))
    if now.running:
        progress_bar(share(now), "Progress of adding")
    if now.error:
        title = "Adding ended early; the documents added so far are kept"
        note(title, now.error, label="contradicted", detail=now.detail)
    if now.failures:
        show(failure_table(now.failures))


def browse(collections: Sequence[CollectionSummary], running: bool) -> None:
    """Show one collection's documents, to read one, remove one, or remove all."""
    section("Read and remove")
    name = st.selectbox(
        "Documents of",
        [c.name for c in collections],
        key="collection_browsed",
        help="The collection whose documents are listed below.",
    )
    filter = st.text_input(
        "Filter by name or title", key="collection_filter", help="Only documents with these words are listed."
    )
    rows = DocumentStore(store()).documents(name, filter, LISTED + 1)
    titles = {row["name"]: row["title"] for row in rows[:LISTED]}
    if len(rows) > LISTED:
        small(f"The first {LISTED} are listed. Filter by name or title to see others.")
    document = st.selectbox(
        "Document",
        list(titles),
        format_func=lambda n: n if titles[n] == n else f"{n} — {titles[n]}",
        key=f"collection_document-{name}-{filter}",  # a shorter list begins at its first
        placeholder="none",
        help="One document, to read or to remove.",
    )
    read, remove, remove_all = st.columns(3)
    if read.button(
        "Read", disabled=document is None, key="collection_read", width="stretch", help="Show the text of the document."
    ):
        source_dialog(name, document)
    if remove.button(
        "Remove",
        disabled=document is None or running,
        key="collection_remove",
        width="stretch",
        help="Remove the document, after a question.",
    ):
        state.put(REMOVAL, (name, document, 1))
    whole = "Remove the collection"
    if remove_all.button(
        whole,
        disabled=running,
        key="collection_remove_all",
        width="stretch",
        help="Remove every document of this collection.",
    ):
        state.put(REMOVAL, (name, None, next(c.documents for c in collections if c.name == name)))


@st.dialog("Source", width="medium")
def source_dialog(collection: str, document: str) -> None:
    page = DocumentStore(store()).page(collection, document)
    if page is None:
        note("The document is gone", "Somebody else has removed it.")
        return
    facts = " · ".join(filter(None, (page.site, page.published, page.reference)))
    show(el("div", el("h3", page.title, dir="auto"), el("p", facts, class_="ax-quiet"), class_="ax-source"))
    source_view(page, [0, 0, 0, 0], key=f"source-{page.id}")


def confirm_removal() -> None:
    """Ask for confirmation of a removal."""
    if not (removal := state.get(REMOVAL)):
        return
    collection, document, count = removal
    what = f"“{document}”" if document else f"“{collection}” with {plural(count, 'document')}"
    note(f"Remove {what} for all users of this server?", "Saved runs keep the texts they used.")
    yes, no = st.columns(2)
    if yes.button("Remove", type="primary", key="removal_yes", width="stretch", help="This cannot be undone."):
        state.put(REMOVAL, None)
        try:
            DocumentStore(store()).remove(collection, document)
        except AttributionError as error:  # somebody else was first
            note("Nothing was removed", str(error))
            return
        st.rerun()
    if no.button("Cancel", key="removal_no", width="stretch", help="Keep everything as it is."):
        state.put(REMOVAL, None)
        st.rerun()


def page() -> None:
    """Show the page or, if the database cannot store collections, the reason."""
    try:
        collections = DocumentStore(store()).collections(hybrid.local_embedder(Settings.from_environment()).version)
    except AttributionError as error:
        note("Collections are not available", str(error), label="missing")
        return
    job: IngestJob | None = state.get(JOB)
    running = job is not None and job.running
    if collections:
        show(collection_table(collections))
    else:
        note("No collections yet", "Name one, choose files or give web addresses, and press Add.")
    add_form(collections, running)
    st.fragment(live, run_every=POLL if running else None)(running)
    if collections:
        browse(collections, running)
        confirm_removal()


state.begin("collections")
styles()
lead(
    "A [collection] is a named set of documents to check answers against. Select it in the sidebar of Explore. All "
    "users of this server see its collections: they can read, add and remove documents. For documents that only you "
    "should see, use “My documents” on Explore."
)
page()
