"""Add files, folders, uploads and web pages to named collections; each is stored as soon as it is
read.

Files are read in processes that can be killed; web pages come from the fetcher and its cache. Files
added before are
recognised by their hash, so adding again resumes.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from attribution.embedders import Embedder
from attribution.errors import BadInput, FetchFailed, StageFailure, StoreError, Unavailable
from attribution.fetching.content_type import MARKDOWN, SUFFIXES
from attribution.fetching.fetcher import Fetcher
from attribution.fetching.page import make_page, partly_read
from attribution.fetching.sandbox import Reading
from attribution.library.folder import without_front_matter
from attribution.library.search import LENGTH, PASSAGES, passages
from attribution.library.store import DocumentStore, NewDocument, check_name
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document, Failure, Page

MAX_BYTES = 50_000_000  # of one file
WORKERS = 6  # files and pages read at once; their bytes are in memory
BATCH = 16  # documents embedded in one transaction


@dataclass(frozen=True)
class Item:
    """An item to add. It replaces the document added from the same `origin` before."""

    name: str
    origin: str  # a path, a URL or upload:NAME
    content: Callable[[], bytes] | None = None  # None: the origin is a URL to fetch


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
    fetch: Callable[[str, Page | None], Page] | None = None,
    stop: threading.Event | None = None,
    owner: str = "",
) -> Iterator[ItemResult]:
    """Add items, several at once; each is stored when its result is yielded. `stop` still finishes
    those being read.

    The items of one `owner` take turns with what others read.
    Raises BadInput for an invalid collection name; an item that cannot be read has the state
    `failed`.
    """
    check_name(collection)
    documents = DocumentStore(store.database)
    reading = Reading(owner)
    fetch = fetch or Fetcher(settings, reading=reading).fetch
    reader = _ItemReader(store, settings, documents.source_hashes(collection), fetch, reading)
    for results in _in_parallel(reader.read, items, stop or threading.Event()):
        new = [r for r in results if isinstance(r, NewDocument)]
        states = documents.put(collection, new) if new else []
        for document, state in zip(new, states, strict=True):
            yield ItemResult(
                document.name, state, next(iter(partly_read(document.page, document.name)), None)
            )
        yield from (r for r in results if isinstance(r, ItemResult))


def embed(
    store: Store, collection: str, embedder: Embedder, stop: threading.Event | None = None
) -> Iterator[tuple[int, int]]:
    """Embed documents without vectors, a few at a time; yields the number of documents with vectors
    and of all.
    """
    documents = DocumentStore(store.database)
    while not (stop and stop.is_set()):
        missing = documents.unembedded(collection, embedder.version, LENGTH * PASSAGES, BATCH)
        if not missing:
            return
        texts = {document: passages(title, text) for document, (title, text) in missing.items()}
        rows = iter(embedder.embed([passage for part in texts.values() for passage in part]))
        vectors = {
            document: [next(rows).tobytes() for _ in part] for document, part in texts.items()
        }
        documents.put_vectors(collection, embedder.version, vectors)
        yield next(
            (c.embedded, c.documents)
            for c in documents.collections(embedder.version)
            if c.name == collection
        )


def from_paths(paths: Sequence[Path]) -> tuple[list[Item], int]:
    """Return the given files and those in the given folders, and the number of files in folders of
    unsupported type.

    Hidden files and links that lead out of their folder are left out. Raises BadInput for a path
    that does not exist.
    """
    items, unsupported = [], 0
    for path in paths:
        root = path.expanduser().resolve()
        if not root.exists():
            raise BadInput(f"{path} does not exist; expected a file, a folder or an http(s) URL")
        if not root.is_dir():
            items.append(_of_file(root, root.name))
            continue
        for file in sorted(root.rglob("*")):
            inside = file.relative_to(root)
            hidden = any(part.startswith(".") for part in inside.parts)
            if hidden or not file.is_file() or not file.resolve().is_relative_to(root):
                continue
            if file.suffix.lower() in SUFFIXES:
                items.append(_of_file(file, (root.name / inside).as_posix()))
            else:
                unsupported += 1
    return items, unsupported


def from_addresses(lines: Iterable[str]) -> list[Item]:
    """Parse URLs, one per line; skip empty lines and those that start with #. Raises BadInput for
    anything else.
    """
    urls = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if wrong := next((url for url in urls if not url.startswith(("http://", "https://"))), None):
        raise BadInput(
            f"{wrong[:80]!r} is not a web address: expected one per line, with http:// or https://"
        )
    return [Item(url, url) for url in dict.fromkeys(urls)]


def from_upload(document: Document) -> Item:
    """Return the item for a file uploaded on the page."""
    return Item(document.name, f"upload:{document.name}", lambda: document.content)


def _of_file(path: Path, name: str) -> Item:
    origin = os.fsencode(path).decode(
        "utf-8", "backslashreplace"
    )  # a file name may not be valid text
    return Item(name, origin, partial(_read_bytes, path))


def _read_bytes(path: Path) -> bytes:
    if (size := path.stat().st_size) > MAX_BYTES:
        raise _too_large(path.name, size)
    return path.read_bytes()


def _too_large(name: str, size: int) -> FetchFailed:
    return FetchFailed(
        "too_large", f"{name} has {size:,} bytes; the limit is {MAX_BYTES:,}. Split it"
    )


class _ItemReader:
    """Reads one item into a document, or says why it cannot be read."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        added_before: set[str],
        fetch: Callable[[str, Page | None], Page],
        reading: Reading,
    ) -> None:
        self._store, self._settings, self._added_before = store, settings, added_before
        self._fetch, self._reading = fetch, reading

    def read(self, item: Item) -> NewDocument | ItemResult:
        name = _one_line(item.name)
        try:
            if item.content is None:
                page = self._page(item.origin)
                page = page.model_copy(
                    update={"kind": "document", "reference": page.reference or page.url}
                )
                return NewDocument(name, item.origin, "", page)
            content = item.content()
            digest = hashlib.sha256(content).hexdigest()
            if digest in self._added_before:
                return ItemResult(name, "unchanged")
            return NewDocument(name, item.origin, digest, _document(content, name, self._reading))
        except StageFailure as error:
            return ItemResult(
                name, "failed", error.as_failure("fetch", name).model_copy(update={"subject": name})
            )
        except (StoreError, Unavailable):
            raise
        except OSError as error:
            message = f"{name} cannot be read: {error.strerror or error}"
            return ItemResult(
                name,
                "failed",
                Failure(stage="fetch", subject=name, kind="unreadable", message=message),
            )
        except Exception as error:  # a bug in a parser must not stop the others
            message, detail = f"{name} cannot be read", repr(error)[:500]
            failure = Failure(
                stage="fetch", subject=name, kind="stage_failed", message=message, detail=detail
            )
            return ItemResult(name, "failed", failure)

    def _page(self, url: str) -> Page:
        page = self._store.cache.page(url, self._settings.page_days)
        if page is None:
            page = self._fetch(url, self._store.cache.page(url))
            self._store.cache.put_pages([page])
        return page


def _document(content: bytes, name: str, reading: Reading) -> Page:
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise FetchFailed(
            "wrong_type", f"{name}: expected one of {', '.join(sorted(SUFFIXES))}", name
        )
    if len(content) > MAX_BYTES:
        raise _too_large(name, len(content))
    extracted, reference = reading.read(content, "", name, document=True), ""
    if SUFFIXES.get(suffix) == MARKDOWN:
        extracted, reference = without_front_matter(extracted, name)
    titled = replace(extracted, title=extracted.title or Path(name).stem)
    return make_page(name, "document", titled, reference)  # gets its URL when it is stored


def _one_line(name: str) -> str:
    """Return a name in printable characters, short enough for a list."""
    return (
        " ".join("".join(c if c.isprintable() else " " for c in name).split())[-300:] or "document"
    )


def _in_parallel(
    work: Callable[[Item], NewDocument | ItemResult], items: Iterable[Item], stop: threading.Event
) -> Iterator[list[NewDocument | ItemResult]]:
    """Yield results as they become ready, those that are ready at the same time together."""
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="add") as pool:
        pending: set[Future[NewDocument | ItemResult]] = set()
        for item in items:
            if stop.is_set():
                break
            pending.add(pool.submit(work, item))
            if len(pending) >= WORKERS:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield [future.result() for future in done]
        if pending:
            yield [future.result() for future in wait(pending).done]
