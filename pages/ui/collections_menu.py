"""Keep documents as collections that all users of this server share: a menu beside the sources."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import streamlit as st

from attribution.errors import AttributionError
from attribution.library import ingest
from attribution.library.collection_store import CollectionSummary, DocumentStore, check_name
from attribution.library.ingest import Item, ItemResult, from_addresses, from_upload
from attribution.reports.html import el, plural
from attribution.settings import LIMITS, Settings
from attribution.store.store import Store
from attribution.types import Failure
from pages.ui import background, choices, state
from pages.ui.answer_view import source_view
from pages.ui.background import JobPage, Work
from pages.ui.frame import note, show, small, status_line
from pages.ui.run_results import failure_table
from pages.ui.state import store

HELP = "Keep documents for other answers. All users of this server can read, extend and empty them."
REMOVAL = "removal"  # a collection and, if it is not all of it, a document
NEW = ""  # no collection has this name
LISTED = 200  # documents offered for choosing at once, and failures in the table
Add = Callable[[Sequence[Item], threading.Event], Iterator[ItemResult]]


@dataclass(frozen=True)
class AddProgress(background.JobProgress):
    """The progress of adding documents."""

    collection: str
    total: int
    done: int = 0
    new: int = 0  # added or changed
    failures: tuple[Failure, ...] = ()

    def doing(self) -> str:
        return f"Adding {self.done:,} of {self.total:,} to “{self.collection}” …"

    def share(self) -> float:
        return self.done / self.total if self.total else 0.0

    def summary(self) -> str:
        """Say what came of it."""
        lost = sum(failure.kind != "left_out" for failure in self.failures)  # not read in part
        same = self.done - self.new - lost
        parts = [f"{plural(self.new, 'document')} added to “{self.collection}”"]
        if same:
            parts.append(f"{same:,} already there")
        if lost:
            parts.append(f"{lost:,} could not be read")
        return f"{', '.join(parts)}."


JOB = JobPage[AddProgress]("ingest", "import of documents")


def work(items: Sequence[Item], add: Add) -> Work[AddProgress]:
    """Add all documents."""

    def add_all(stop: threading.Event, update: Callable[..., AddProgress]) -> None:
        now = update()
        for added in add(items, stop):
            failures = (*now.failures, added.failure) if added.failure else now.failures
            new = now.new + (added.state in ("added", "changed"))
            now = update(done=now.done + 1, new=new, failures=failures)

    return add_all


def start(name: str) -> str:
    """Start to keep the documents of the form in a collection, or return why not."""
    if not name:
        return "Type a name for the new collection first."
    addresses = state.text("addresses").splitlines()
    try:
        check_name(name)
        items = [*map(from_upload, choices.documents()), *from_addresses(addresses)]
    except AttributionError as error:
        return error.public()
    if not items:
        return "Add files, a text or links to the sources first."
    if len(items) > LIMITS.files:
        return f"At most {LIMITS.files} documents are added at once: remove some."
    settings, browser = Settings.from_environment(), state.browser()

    def add(items: Sequence[Item], stop: threading.Event) -> Iterator[ItemResult]:
        database = Store.open(settings.database_url)
        return ingest.add(database, name, items, settings, stop=stop, owner=browser)

    JOB.launch(AddProgress(name, len(items)), work(items, add))
    return ""


def collections_menu() -> None:
    """Draw the menu: keep the documents of the form, read and remove those that are kept."""
    with st.popover("Collections", key="collections_menu", type="tertiary", help=HELP):
        try:
            collections = DocumentStore(store().database).collections()
        except AttributionError as error:
            note("Collections are not available", error.public(), label="missing")
            return
        JOB.draw(lambda running: _keep(collections, running), _result)
        if collections:
            _manage(collections)


def _keep(collections: Sequence[CollectionSummary], running: bool) -> None:
    names = [collection.name for collection in collections]
    name = st.selectbox(
        "Keep the documents above in",
        [NEW, *names],
        key="collection_into",
        format_func=lambda name: name or "A new collection",
        help=HELP,
    )
    if name == NEW:
        name = st.text_input(
            "Name of the new collection",
            key="collection_name",
            max_chars=LIMITS.name,
            help="All users of this server see it.",
        )
    if running:
        st.button("Stop", key="collection_stop", on_click=JOB.stop, help="What was added stays.")
    elif st.button("Keep the documents", type="primary", key="collection_add"):
        problem = start(str(name or "").strip())
        if problem:
            note("Nothing was added", problem, label="contradicted")
        else:
            st.rerun()


def _result(now: AddProgress) -> None:
    if not now.running:
        status_line(now.summary())
    if now.failures:
        show(failure_table(now.failures[:LISTED]))


def _manage(collections: Sequence[CollectionSummary]) -> None:
    """Draw the documents of a collection, to read or remove them."""
    by_name = {collection.name: collection for collection in collections}
    name = st.selectbox(
        "Collection",
        list(by_name),
        key="collection_browsed",
        help="The collection whose documents are shown.",
    )
    chosen = by_name[str(name)]
    small(f"{plural(chosen.documents, 'document')}.")
    words = st.text_input(
        "Filter by name or title",
        key="collection_filter",
        max_chars=LIMITS.line,
        help="Documents whose name or title has these words.",
    )
    rows = DocumentStore(store().database).documents(chosen.name, words, LISTED)
    titles = {str(row["name"]): str(row["title"] or row["name"]) for row in rows}
    document = st.selectbox(
        "Document",
        list(titles),
        help="The document to read or remove.",
        format_func=titles.__getitem__,
        key=f"collection_document-{name}-{words}",  # a shorter list begins at its first
        placeholder="none",
    )
    with st.container(horizontal=True):
        if st.button("Read the document", disabled=document is None, key="collection_read"):
            source_dialog(chosen.name, str(document))
        for label, removed in (("Remove it", document), ("Remove the collection", None)):
            st.button(
                label,
                help="You are asked once more.",
                key=f"remove-{label}",
                on_click=state.put,
                args=(REMOVAL, (chosen.name, removed)),
            )
    _confirm_removal()


@st.dialog("Source", width="medium")
def source_dialog(collection: str, document: str) -> None:
    """Show the text of a document."""
    page = DocumentStore(store().database).page(collection, document)
    if page is None:
        note("The document is gone", "Another user has removed it.")
        return
    facts = " · ".join(filter(None, (page.site, page.published, page.reference)))
    show(
        el(
            "div",
            el("h3", page.title, dir="auto"),
            el("p", facts, class_="ax-quiet"),
            class_="ax-source",
        )
    )
    source_view(page, [0, 0], key=f"source-{page.id}")


def _confirm_removal() -> None:
    """Ask for confirmation of a removal."""
    removal = state.get(REMOVAL)
    if not removal:
        return
    collection, document = removal
    what = f"“{document}”" if document else f"the collection “{collection}”"
    title = f"Remove {what} for all users of this server?"
    note(title, "Saved runs still have the texts they used. This cannot be undone.")
    with st.container(horizontal=True):
        if st.button("Remove for all users", type="primary", key="removal_yes"):
            state.put(REMOVAL, None)
            try:
                DocumentStore(store().database).remove(collection, document)
            except AttributionError as error:  # somebody else was first
                note("Nothing was removed", error.public())
                return
            st.rerun()
        st.button("Cancel", key="removal_no", on_click=state.put, args=(REMOVAL, None))
