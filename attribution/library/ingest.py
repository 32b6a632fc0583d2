"""Add files, folders, uploads and web pages to collections; each is stored as soon as it is read.

Files are read in processes that can be killed; web pages come from the fetcher and its cache. Files
added before are recognised by their hash, so adding again resumes.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from attribution.errors import BadInput, FetchFailed, StageFailure, StoreError, Unavailable
from attribution.fetching.content_type import SUFFIXES
from attribution.fetching.fetcher import Fetcher
from attribution.fetching.page import make_page, partly_read
from attribution.fetching.sandbox import FileReader
from attribution.library.collection_store import DocumentStore, NewDocument, check_name
from attribution.library.folder import check_size, content_of, files_below, titled
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.words import printable
from attribution.types import Document, Failure, Page

MAX_BYTES = 50_000_000  # of one file
WORKERS = 6  # files and pages read at once; their bytes are in memory
MAX_NAME = 300  # characters


@dataclass(frozen=True)
class Item:
    """An item to add. It replaces the document added from the same `origin` before."""

    name: str
    origin: str  # a path, a URL or upload:NAME
    content: Callable[[], bytes] | None = None  # None: the origin is a URL to fetch
    media_type: str = ""  # empty: its name says what it is


@dataclass(frozen=True)
class ItemResult:
    """The outcome for one item; `failure` says why it, or a part of it, was not read."""

    name: str
    state: Literal["added", "changed", "unchanged", "failed"]
    failure: Failure | None = None


def add(
    store: Store,
    collection: str,
    items: Iterable[Item],
    settings: Settings,
    stop: threading.Event | None = None,
    owner: str = "",
) -> Iterator[ItemResult]:
    """Add items, several at once; each is stored when its result is yielded.

    Args:
        store: Holds the collection, and the cache of pages.
        collection: Created where needed.
        items: What to add.
        settings: Of fetching and reading.
        stop: Ends the work; items that are being read are still finished.
        owner: Whose items take turns with what others read.

    Yields:
        The outcome of each item; one that cannot be read has the state `failed`.

    Raises:
        BadInput: The collection's name is invalid.
    """
    check_name(collection)
    documents = DocumentStore(store.database)
    stop = stop or threading.Event()
    reading = FileReader(owner, math.inf)
    fetch = Fetcher(settings, reading=reading).fetch
    reader = _ItemReader(store, settings, documents.sources(collection), fetch, reading)
    for results in _in_parallel(reader.read, items, stop):
        new = [result for result in results if isinstance(result, NewDocument)]
        states = documents.put(collection, new) if new else []
        for document, state in zip(new, states, strict=True):
            failures = partly_read(document.page, document.name)
            yield ItemResult(document.name, state, failures[0] if failures else None)
        yield from (result for result in results if isinstance(result, ItemResult))


def from_paths(paths: Sequence[Path]) -> tuple[list[Item], int]:
    """Return the given files and those in folders, and how many in folders have another type.

    Hidden files and links that lead out of their folder are left out.

    Raises:
        BadInput: A path does not exist.
    """
    items: list[Item] = []
    unsupported = 0
    for path in paths:
        root = path.expanduser().resolve()
        if not root.exists():
            raise BadInput(f"{path} does not exist; expected a file, a folder or an http(s) URL")
        if not root.is_dir():
            items.append(_file_item(root, root.name))
            continue
        for file in files_below(root):
            if file.suffix.lower() in SUFFIXES:
                name = (root.name / file.relative_to(root)).as_posix()
                items.append(_file_item(file, name))
            else:
                unsupported += 1
    return items, unsupported


def from_addresses(lines: Iterable[str]) -> list[Item]:
    """Return the URLs of a list, one per line, without empty lines and those that start with #.

    Raises:
        BadInput: A line is anything else.
    """
    urls = [line.strip() for line in lines]
    urls = [url for url in urls if url and not url.startswith("#")]
    for url in urls:
        if not url.startswith(("http://", "https://")):
            raise BadInput(
                f"{url[:80]!r} is not a web address: expected one per line, with http:// or "
                "https://"
            )
    return [Item(url, url) for url in dict.fromkeys(urls)]


def from_upload(document: Document) -> Item:
    """Return the item for a file uploaded on the page."""
    name = document.name
    return Item(name, f"upload:{name}", lambda: document.content, document.media_type)


def _file_item(path: Path, name: str) -> Item:
    # a file name may not be valid text
    origin = os.fsencode(path).decode("utf-8", "backslashreplace")
    return Item(name, origin, partial(content_of, path, path.name, MAX_BYTES))


@dataclass(frozen=True)
class _ItemReader:
    """Reads one item into a document, or says why it cannot be read."""

    store: Store
    settings: Settings
    added_before: set[tuple[str, str]]
    fetch: Callable[[str], Page]
    reading: FileReader

    def read(self, item: Item) -> NewDocument | ItemResult:
        """Read an item; whatever goes wrong costs this item alone."""
        name = printable(item.name)[-MAX_NAME:] or "document"
        try:
            return self._read(item, name)
        except StageFailure as error:
            failure = error.as_failure("fetch", name).model_copy(update={"subject": name})
        except (StoreError, Unavailable):
            raise
        except Exception as error:  # a bug in a parser must not stop the others
            failure = Failure(
                stage="fetch",
                subject=name,
                kind="stage_failed",
                message=f"{name} cannot be read",
                detail=repr(error)[:500],
            )
        return ItemResult(name, "failed", failure)

    def _read(self, item: Item, name: str) -> NewDocument | ItemResult:
        if item.content is None:
            page = self._page(item.origin)
            reference = page.reference or page.url
            page = page.model_copy(update={"kind": "document", "reference": reference})
            return NewDocument(name, item.origin, "", page)
        content = item.content()
        digest = hashlib.sha256(content).hexdigest()
        if (item.origin, digest) in self.added_before:
            return ItemResult(name, "unchanged")
        if not item.media_type and Path(name).suffix.lower() not in SUFFIXES:
            expected = ", ".join(sorted(SUFFIXES))
            raise FetchFailed("wrong_type", f"{name}: expected one of {expected}", name)
        check_size(name, len(content), MAX_BYTES)
        extracted = titled(self.reading.read(content, item.media_type, name, document=True), name)
        page = make_page(name, "document", extracted, extracted.url)  # gets its URL when stored
        return NewDocument(name, item.origin, digest, page)

    def _page(self, url: str) -> Page:
        page = self.store.cache.page(url, self.settings.page_days)
        if page is None:
            page = self.fetch(url)
            self.store.cache.put_pages([page])
        return page


def _in_parallel(
    work: Callable[[Item], NewDocument | ItemResult], items: Iterable[Item], stop: threading.Event
) -> Iterator[list[NewDocument | ItemResult]]:
    """Yield results as they become ready; those that are ready at the same time together."""
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="add") as pool:
        pending: set[Future[NewDocument | ItemResult]] = set()
        for item in items:
            if stop.is_set():
                break
            pending.add(pool.submit(work, item))
            if len(pending) >= WORKERS:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield [future.result() for future in done]
        yield [future.result() for future in wait(pending).done]
