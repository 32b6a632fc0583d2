"""Library: named collections of documents that all users of this server share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import streamlit as st

from attribution.errors import AttributionError
from attribution.library import ingest
from attribution.library import search as hybrid
from attribution.library.folder import FolderSearcher
from attribution.library.ingest import Item, ItemResult, from_addresses, from_upload
from attribution.library.store import CollectionSummary, DocumentStore, check_name
from attribution.reports.html import Child, Node, el, plural, scrolling, table, with_detail
from attribution.reports.trail import date
from attribution.settings import LIMITS, Settings
from attribution.store.store import Store
from attribution.types import Document, Failure, Page
from pages.ui import background, frame, state
from pages.ui.answer_view import source_view
from pages.ui.background import Work, in_turns
from pages.ui.fields import DOCUMENT_TYPES, FORMATS
from pages.ui.frame import note, section, show, small, status_line
from pages.ui.job_page import JobPage
from pages.ui.state import store

ROUND, REMOVAL = "library_round", "removal"
NEW = BUILT_IN = ""  # no collection has this name
LISTED = 200  # documents offered for choosing at once, and failures in the table
Add = Callable[[Sequence[Item], threading.Event], Iterator[ItemResult]]
Embed = Callable[[threading.Event], Iterator[tuple[int, int]]]


@dataclass(frozen=True)
class AddProgress(background.JobProgress):
    """The progress of adding documents."""

    collection: str
    total: int
    done: int = 0
    new: int = 0  # added or changed
    failures: tuple[Failure, ...] = ()
    embedded: tuple[int, int] | None = None  # documents with a vector, and all; None while adding

    def doing(self) -> str:
        if self.stopping:
            return "Stopping after the documents in progress …"
        if self.embedded:
            done, total = self.embedded
            return f"Preparing search by meaning: {done:,} of {total:,} …"
        return f"Adding {self.done:,} of {self.total:,} to “{self.collection}” …"

    def share(self) -> float:
        done, total = self.embedded or (self.done, self.total)
        return done / total if total else 0.0

    def summary(self) -> str:
        """Say what came of it."""
        lost = sum(failure.kind != "left_out" for failure in self.failures)  # not read in part
        same = self.done - self.new - lost
        parts = [f"{plural(self.new, 'document')} added to “{self.collection}”"]
        if same:
            parts.append(f"{same:,} already there")
        if lost:
            parts.append(f"{lost:,} could not be read")
        if self.done < self.total:
            parts.append(f"stopped before {self.total - self.done:,} more")
        return f"{', '.join(parts)}."


JOB = JobPage[AddProgress]("ingest", "adding of documents")


def work(items: Sequence[Item], add: Add, embed: Embed) -> Work[AddProgress]:
    """Add all documents first, so that they can be searched by their words, then embed them."""

    def add_and_embed(stop: threading.Event, update: Callable[..., AddProgress]) -> None:
        now = update()
        for added in add(items, stop):
            failures = (*now.failures, added.failure) if added.failure else now.failures
            new = now.new + (added.state in ("added", "changed"))
            now = update(done=now.done + 1, new=new, failures=failures)
        if not stop.is_set():
            for embedded in embed(stop):
                update(embedded=embedded)

    return add_and_embed


def start(name: str, documents: Sequence[Document], addresses: str) -> str:
    """Start adding in the background, or return why not."""
    if not name:
        return "Type a name for the new collection first."
    try:
        check_name(name)
        items = [*map(from_upload, documents), *from_addresses(addresses.splitlines())]
    except AttributionError as error:
        return error.public()
    if not items:
        return "Choose files or give web addresses first."
    if len(items) > LIMITS.files:
        return f"At most {LIMITS.files} documents are added at once: remove some."
    settings, browser = Settings.from_environment(), state.browser()

    def add(items: Sequence[Item], stop: threading.Event) -> Iterator[ItemResult]:
        database = Store.open(settings.database_url)
        return ingest.add(
            database,
            name,
            items,
            settings,
            stop=stop,
            owner=browser,
        )

    def embed(stop: threading.Event) -> Iterator[tuple[int, int]]:
        database = Store.open(settings.database_url)
        steps = ingest.embed(database, name, hybrid.local_embedder(settings), stop)
        return in_turns(browser, stop, steps)

    JOB.launch(AddProgress(name, len(items)), work(items, add, embed))
    return ""


# --- the page ---


def add_form(collections: Sequence[CollectionSummary], running: bool) -> None:
    """Draw the form that adds documents: the collection, what goes into it, and the buttons."""
    section("Add documents")
    name = st.selectbox(
        "Collection",
        [NEW, *(collection.name for collection in collections)],
        key="collection_into",
        format_func=lambda name: name or "New collection",
        help="A new collection, or one that exists.",
    )
    if name == NEW:
        name = st.text_input(
            "Name of the new collection",
            key="collection_name",
            help="Shown in the lists of sources.",
            max_chars=LIMITS.name,
        )
    turn = state.count(ROUND)  # new keys empty the inputs once their content is being added
    files = st.file_uploader(
        "Files",
        DOCUMENT_TYPES,
        accept_multiple_files=True,
        key=f"collection_files-{turn}",
        help=FORMATS,
        max_upload_size=LIMITS.file_mb,
    )
    addresses = st.text_area(
        "Web addresses",
        key=f"collection_addresses-{turn}",
        height=80,
        placeholder="https://…, one per line",
        help="Each page is downloaded, and its text is stored.",
        max_chars=LIMITS.text,
    )
    add, stop = st.columns(2)
    stop.button(
        "Stop",
        disabled=not running,
        key="collection_stop",
        width="stretch",
        on_click=JOB.stop,
        help="The documents added so far stay.",
    )
    help = "Read the files and pages, and store their text."
    if not add.button(
        "Add", type="primary", disabled=running, key="collection_add", width="stretch", help=help
    ):
        return
    problem = start(str(name or "").strip(), state.documents_of(files), addresses)
    if problem:
        note("Nothing was added", problem, label="contradicted")
    else:
        state.renew(ROUND)
        st.rerun()


def result(now: AddProgress) -> None:
    """Draw what was added, and what could not be read."""
    if not now.running:
        status_line(now.summary())
    if now.failures:
        show(failure_table(now.failures))


def browse(collections: Sequence[CollectionSummary], running: bool) -> None:
    """Draw the documents of the built-in library or of a collection, to read or remove them."""
    section("Read and remove" if collections else "Read")
    name = st.selectbox(
        "Documents of",
        [BUILT_IN, *(collection.name for collection in collections)],
        key="collection_browsed",
        format_func=lambda name: name or "Built-in library",
        index=int(bool(collections)),
        help="The library or collection whose documents are listed below.",
    )
    words = st.text_input(
        "Filter by name or title",
        key="collection_filter",
        help="Lists only documents with these words.",
        max_chars=LIMITS.line,
    )
    titles = collected(name, words) if name else built_in(words)
    if len(titles) > LISTED:
        small(f"The first {LISTED} are listed. Filter by name or title to see others.")
    document = st.selectbox(
        "Document",
        list(titles)[:LISTED],
        format_func=lambda key: titles[key] or key,
        key=f"collection_document-{name}-{words}",  # a shorter list begins at its first
        placeholder="none",
        help="The document to read or to remove.",
    )
    with st.container(horizontal=True):
        if st.button("Read the document", disabled=document is None, key="collection_read"):
            source_dialog(name, str(document))
        if name == BUILT_IN:
            return
        st.button(
            "Remove the document",
            disabled=document is None or running,
            key="collection_remove",
            on_click=state.put,
            args=(REMOVAL, (name, document)),
        )
        st.button(
            "Remove the collection",
            disabled=running,
            key="collection_remove_all",
            on_click=state.put,
            args=(REMOVAL, (name, None)),
        )


def collected(name: str, words: str) -> dict[str, str]:
    """Return the titles of a collection's documents by their names, one more than are listed."""
    rows = DocumentStore(store().database).documents(name, words, LISTED + 1)
    return {str(row["name"]): str(row["title"]) for row in rows}


def built_in_pages() -> Sequence[Page]:
    """Return the articles of the built-in library; none if the folder cannot be used."""
    try:
        return FolderSearcher(Settings.from_environment()).pages
    except AttributionError as error:
        note("The built-in library cannot be read", error.public(), label="missing")
        return ()


def built_in(words: str = "") -> dict[str, str]:
    """Return the titles of the built-in library's articles by their addresses."""
    sought = words.casefold()
    pages = built_in_pages()
    return {p.url: p.title for p in pages if sought in f"{p.url} {p.title}".casefold()}


@st.dialog("Source", width="medium")
def source_dialog(collection: str, document: str) -> None:
    """Show the text of a document."""
    if collection == BUILT_IN:
        page = next((page for page in built_in_pages() if page.url == document), None)
    else:
        page = DocumentStore(store().database).page(collection, document)
    if page is None:
        note("The document is gone", "Another user has removed it.")
        return
    facts = " · ".join(filter(None, (page.site, page.published, page.reference or page.facts_from)))
    title = el("h3", page.title, dir="auto")
    show(
        el(
            "div",
            title,
            el("p", facts, class_="ax-quiet"),
            class_="ax-source",
        )
    )
    source_view(page, [0, 0, 0, 0], key=f"source-{page.id}")


def confirm_removal() -> None:
    """Ask for confirmation of a removal."""
    removal = state.get(REMOVAL)
    if not removal:
        return
    collection, document = removal
    what = f"“{document}”" if document else f"the collection “{collection}”"
    title = f"Remove {what} for all users of this server?"
    note(title, "Saved runs still have the texts they used. This cannot be undone.")
    yes, no = st.columns(2)
    if yes.button(
        "Remove for all users",
        type="primary",
        key="removal_yes",
        width="stretch",
    ):
        state.put(REMOVAL, None)
        try:
            DocumentStore(store().database).remove(collection, document)
        except AttributionError as error:  # somebody else was first
            note("Nothing was removed", error.public())
            return
        st.rerun()
    help = "Keep everything as it is."
    if no.button(
        "Cancel",
        key="removal_no",
        width="stretch",
        help=help,
    ):
        state.put(REMOVAL, None)
        st.rerun()


def page() -> None:
    """Draw the page or, if the database cannot store collections, the reason."""
    try:
        embedder = hybrid.local_embedder(Settings.from_environment())
        collections = DocumentStore(store().database).collections(embedder.version)
    except AttributionError as error:
        note("Collections are not available", error.public(), label="missing")
        return
    if collections:
        show(collection_table(collections))
    else:
        note("No collections yet", "Name one, choose files or give web addresses, and press Add.")
    running = JOB.draw(lambda running: add_form(collections, running), result)
    browse(collections, running)
    confirm_removal()


def collection_table(collections: Sequence[CollectionSummary]) -> Node:
    """Return a table of the collections with counts, size and dates."""
    heads = ("Collection", "Documents", "Characters", "Searchable by meaning", "Last change")
    rows = (
        (c.name, f"{c.documents:,}", f"{c.characters:,}", f"{c.embedded:,}", date(c.changed_at))
        for c in collections
    )
    return scrolling(table(heads, rows, "ax-table wide"), "Collections")


def failure_table(failures: Sequence[Failure]) -> Node:
    """Return a table of the items that could not be read."""
    rows: list[tuple[Child, Child]] = [
        (failure.subject, with_detail(failure.message, failure.detail))
        for failure in failures[:LISTED]
    ]
    if len(failures) > LISTED:
        rows.append((f"{len(failures) - LISTED:,} more", ""))
    return table(("File or address", "Why it was not added"), rows)


if __name__ == "__main__":
    frame.begin(
        "library",
        "Library",
        "Manage [collections] of documents to check answers against. All users of this server can "
        "read, extend and empty them; documents that only you should see belong under “My "
        "documents” on Check.",
    )
    page()
