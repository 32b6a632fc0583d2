"""Adding to named collections: files, folders, uploads and web pages, each read by itself and kept as soon as it is.

Files are read in processes that can be stopped, pages come through the project's fetching and its cache. What was added
before is known by the hash of its bytes, so that adding again resumes.
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

from attribution.collections.folder import article
from attribution.collections.search import LENGTH, PASSAGES, passages
from attribution.collections.store import DocumentStore, NewDocument, check_name
from attribution.embedders import Embedder
from attribution.errors import BadInput, FetchFailed, StageFailure
from attribution.extraction.content_type import MARKDOWN, SUFFIXES
from attribution.extraction.page import make_page
from attribution.extraction.sandbox import read
from attribution.settings import Settings
from attribution.storage.store import EVER, Store
from attribution.types import Document, Failure, Page
from attribution.web.fetcher import Fetcher

MAX_BYTES = 50_000_000  # of one file
SIDE_BY_SIDE = 6  # files and pages under way; their bytes are in memory
STEP = 16  # documents embedded between two transactions


@dataclass(frozen=True)
class Item:
    """Something to add. The same `origin` again replaces what it brought before."""

    name: str
    origin: str  # a path, an address or upload:NAME
    content: Callable[[], bytes] | None = None  # None: the origin is an address to fetch


@dataclass(frozen=True)
class Added:
    """What became of one item; `failure` says why it was not read."""

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
) -> Iterator[Added]:
    """Add items, several at once; each is safe in the store when it is told. `stop` ends it with those under way.

    BadInput for a name that no collection can have; an item that cannot be read is told as failed.
    """
    check_name(collection)
    kept = DocumentStore(store)
    work = partial(_Reading(store, settings, kept.sources(collection), fetch or Fetcher(settings).fetch).read)
    for ready in _side_by_side(work, items, stop or threading.Event()):
        new = [r for r in ready if isinstance(r, NewDocument)]
        states = kept.put(collection, new) if new else []
        yield from (Added(document.name, state) for document, state in zip(new, states, strict=True))
        yield from (r for r in ready if isinstance(r, Added))


def embed(
    store: Store, collection: str, embedder: Embedder, stop: threading.Event | None = None
) -> Iterator[tuple[int, int]]:
    """Make the vectors that are missing, in steps of a few documents: those made so far, and all documents."""
    kept = DocumentStore(store)
    while not (stop and stop.is_set()):
        missing = kept.unembedded(collection, embedder.version, LENGTH * PASSAGES, STEP)
        if not missing:
            return
        cut = {document: passages(title, text) for document, (title, text) in missing.items()}
        made = iter(embedder.embed([text for texts in cut.values() for text in texts]))
        vectors = {document: [next(made).tobytes() for _ in texts] for document, texts in cut.items()}
        kept.put_vectors(collection, embedder.version, vectors)
        yield next((c.embedded, c.documents) for c in kept.collections(embedder.version) if c.name == collection)


def from_paths(paths: Sequence[Path]) -> tuple[list[Item], int]:
    """The files that are named and those in folders, and how many files of folders are of no type that is read.

    Hidden files and links that lead out of their folder are left out. BadInput for a path that is not there.
    """
    items, left_out = [], 0
    for path in paths:
        root = path.expanduser().resolve()
        if not root.exists():
            raise BadInput(f"{path} does not exist; expected a file, a folder or an http(s) address")
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
                left_out += 1
    return items, left_out


def from_addresses(lines: Iterable[str]) -> list[Item]:
    """Web addresses, one a line; empty lines and those that begin with # are left out. BadInput for anything else."""
    addresses = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if odd := next((a for a in addresses if not a.startswith(("http://", "https://"))), None):
        raise BadInput(f"{odd[:80]!r} is no web address: expected one a line, each with http:// or https://")
    return [Item(address, address) for address in dict.fromkeys(addresses)]


def from_upload(document: Document) -> Item:
    """A file that came through the page."""
    return Item(document.name, f"upload:{document.name}", lambda: document.content)


def _of_file(path: Path, name: str) -> Item:
    origin = os.fsencode(path).decode("utf-8", "backslashreplace")  # a file name need not be text
    return Item(name, origin, partial(_bytes, path))


def _bytes(path: Path) -> bytes:
    if (size := path.stat().st_size) > MAX_BYTES:
        raise FetchFailed("too_large", f"{path.name} has {size:,} bytes, at most {MAX_BYTES:,} are read; split it")
    return path.read_bytes()


class _Reading:
    """One item → a document, or why there is none."""

    def __init__(
        self, store: Store, settings: Settings, known: set[str], fetch: Callable[[str, Page | None], Page]
    ) -> None:
        self._store, self._settings, self._known, self._fetch = store, settings, known, fetch

    def read(self, item: Item) -> NewDocument | Added:
        name = _one_line(item.name)
        try:
            if item.content is None:
                page = self._page(item.origin)
                page = page.model_copy(update={"kind": "document", "reference": page.reference or page.url})
                return NewDocument(name, item.origin, "", page)
            content = item.content()
            digest = hashlib.sha256(content).hexdigest()
            if digest in self._known:
                return Added(name, "unchanged")
            return NewDocument(name, item.origin, digest, _document(content, name))
        except StageFailure as error:
            return Added(name, "failed", error.as_failure("fetch", name).model_copy(update={"subject": name}))
        except OSError as error:
            message = f"{name} cannot be read: {error.strerror or error}"
            return Added(name, "failed", Failure(stage="fetch", subject=name, kind="unreadable", message=message))
        except Exception as error:  # a bug in a parser must cost one file, not the rest
            message = f"{name} could not be read ({type(error).__name__}); the others were"
            return Added(name, "failed", Failure(stage="fetch", subject=name, kind="stage_failed", message=message))

    def _page(self, address: str) -> Page:
        page = self._store.page(address, self._settings.page_days)
        if page is None:
            page = self._fetch(address, self._store.page(address, EVER))
            self._store.put_pages([page])
        return page


def _document(content: bytes, name: str) -> Page:
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise FetchFailed("wrong_type", f"{name}: expected one of {', '.join(sorted(SUFFIXES))}", name)
    if len(content) > MAX_BYTES:
        raise FetchFailed("too_large", f"{name} has {len(content):,} bytes, at most {MAX_BYTES:,} are read; split it")
    extracted, reference = read(content, "", name, document=True), ""
    if SUFFIXES.get(suffix) == MARKDOWN:
        extracted, reference = article(extracted, name)
    titled = replace(extracted, title=extracted.title or Path(name).stem)
    return make_page(name, "document", titled, reference)  # its address comes with its place in the collection


def _one_line(name: str) -> str:
    """A name without what cannot be shown, and not longer than a list can take."""
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())[-300:] or "document"


def _side_by_side(
    work: Callable[[Item], NewDocument | Added], items: Iterable[Item], stop: threading.Event
) -> Iterator[list[NewDocument | Added]]:
    """Results in the order in which they are ready, all those that are ready together."""
    with ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="add") as pool:
        pending: set[Future[NewDocument | Added]] = set()
        for item in items:
            if stop.is_set():
                break
            pending.add(pool.submit(work, item))
            if len(pending) >= SIDE_BY_SIDE:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield [future.result() for future in done]
        if pending:
            yield [future.result() for future in wait(pending).done]
