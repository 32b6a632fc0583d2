"""Find documents by the words they share with a query: folders and collections alike."""

from __future__ import annotations

import math
import sqlite3
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from attribution.errors import FetchFailed, SearchFailed, StageFailure
from attribution.fetching.content_type import SUFFIXES
from attribution.fetching.formats import extract
from attribution.fetching.page import Extracted, make_page
from attribution.fetching.sandbox import FileReader
from attribution.retrieval.bm25 import FullText, create, relevant
from attribution.settings import ROOT, Settings
from attribution.types import BUILT_IN, Failure, Page, SearchHit

DEPTH = 100  # documents that are ranked


class KeywordSearcher(ABC):
    """Finds documents by the words they share with a query."""

    name: str

    @abstractmethod
    def full_text(self) -> AbstractContextManager[FullText]:
        """Open the full-text index, for one thread at a time."""

    @abstractmethod
    def documents(self, rows: Sequence[int]) -> Mapping[int, Page]:
        """Return documents by row; those removed meanwhile are left out."""

    def search(self, query: str, k: int) -> list[SearchHit]:
        """Return the k best documents that share enough of the query's words; often none."""
        with self.full_text() as table:
            rows = relevant(table, query, max(k, DEPTH))[:k]
        documents = self.documents(rows)
        pages = [documents[row] for row in rows if row in documents]
        hits = []
        for rank, page in enumerate(pages, 1):
            hit = SearchHit(page.url, page.title, rank, self.name, query, page)
            hits.append(hit)
        return hits


# --- folders ---

SHIPPED = (ROOT / "examples" / "library").resolve()


@dataclass(frozen=True)
class _Index:
    """The articles of one folder at one moment."""

    pages: tuple[Page, ...]
    failures: tuple[Failure, ...]
    table: FullText
    lock: threading.Lock


class _File(NamedTuple):
    """An article's file at one moment."""

    name: str  # below the folder
    changed: int
    size: int


_Key = tuple[tuple[_File, ...], int]  # what an index depends on: files and the limit of their size
_indexes: dict[Path, tuple[_Key, _Index]] = {}
_building = threading.Lock()


class FolderSearcher(KeywordSearcher):
    """Searches the articles below `settings.library`.

    They are Markdown with optional front matter (title, date, url), and all other files that can be
    read.
    """

    name = "library"

    def __init__(self, settings: Settings, folder: Path | None = None) -> None:
        self._folder = folder or settings.library
        self._max_bytes = settings.page_bytes
        self._opened: _Index | None = None

    @property
    def pages(self) -> tuple[Page, ...]:
        return self._index().pages

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The files that could not be read, each with its reason; none before the first search."""
        return self._opened.failures if self._opened else ()

    @contextmanager
    def full_text(self) -> Iterator[FullText]:
        index = self._index()
        with index.lock:
            yield index.table

    def documents(self, rows: Sequence[int]) -> Mapping[int, Page]:
        return {row: self.pages[row] for row in rows}

    def _index(self) -> _Index:
        """Return the articles as they were when first used: rows stay the same during a run."""
        if self._opened is None:
            self._opened = self._shared_index()
        if self._opened.pages:
            return self._opened
        failures = self._opened.failures
        problem = "contains no articles"
        if failures:
            problem += f" ({len(failures)} cannot be read, first: {failures[0].message})"
        raise self._unusable(problem)

    def _shared_index(self) -> _Index:
        """Return the process's index of the folder, built again after a file has changed."""
        if not self._folder.is_dir():
            raise self._unusable("does not exist")
        folder = self._folder.resolve()
        with _building:
            key = (_list_files(folder), self._max_bytes)
            if folder not in _indexes or _indexes[folder][0] != key:
                _indexes[folder] = (key, _build_index(folder, *key))
            return _indexes[folder][1]

    def _unusable(self, reason: str) -> SearchFailed:
        return SearchFailed(
            "search_failed",
            f"the library folder {self._folder} {reason}; set `library` "
            f"(--set library=FOLDER) to a folder with {', '.join(sorted(SUFFIXES))} files, or give "
            "such a folder as a source",
            str(self._folder),
        )


def files_below(root: Path) -> Iterator[Path]:
    """Yield the files below a folder, without hidden ones and links that lead out of it."""
    for file in sorted(root.rglob("*")):
        is_hidden = any(part.startswith(".") for part in file.relative_to(root).parts)
        if not is_hidden and file.is_file() and file.resolve().is_relative_to(root):
            yield file


def _list_files(folder: Path) -> tuple[_File, ...]:
    files = []
    for path in files_below(folder):
        if path.suffix.lower() in SUFFIXES:
            with suppress(OSError):  # removed since it was listed
                state = path.stat()
                name = path.relative_to(folder).as_posix()
                files.append(_File(name, state.st_mtime_ns, state.st_size))
    return tuple(files)


def _build_index(folder: Path, files: Sequence[_File], max_bytes: int) -> _Index:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    create(database, "articles", "title", "body")
    pages: list[Page] = []
    failures: list[Failure] = []
    reading = FileReader("", math.inf)
    for name, *_ in files:
        try:
            content = content_of(folder / name, name, max_bytes)
            page = _read(content, folder / name, name, reading)
        except StageFailure as error:
            failures.append(error.as_failure("fetch", name))
            continue
        row = (len(pages), page.title, page.text)
        database.execute("INSERT INTO articles(rowid, title, body) VALUES (?, ?, ?)", row)
        pages.append(page)
    table = FullText(database, "articles", len(pages))
    weakref.finalize(table, database.close)  # a run may still search an index that was replaced
    return _Index(tuple(pages), tuple(failures), table, threading.Lock())


def content_of(path: Path, name: str, most: int) -> bytes:
    """Return the bytes of a file.

    Args:
        path: Where it is.
        name: What messages call it.
        most: Bytes that it may have.

    Raises:
        FetchFailed: too_large, or unreadable.
    """
    try:
        check_size(name, path.stat().st_size, most)
        return path.read_bytes()
    except OSError as error:
        message = f"{name} cannot be read: {error.strerror or error}"
        raise FetchFailed("unreadable", message) from error


def check_size(name: str, size: int, most: int) -> None:
    """Check the size of a file.

    Args:
        name: What messages call it.
        size: Bytes that it has.
        most: Bytes that it may have.

    Raises:
        FetchFailed: too_large.
    """
    if size > most:
        message = f"{name} has {size:,} bytes; the limit is {most:,}. Split it"
        raise FetchFailed("too_large", message)


def _read(content: bytes, path: Path, name: str, reading: FileReader) -> Page:
    # the shipped articles are our own text; whatever else lies in a folder may be hostile
    is_trusted = path.suffix.lower() == ".md" and path.is_relative_to(SHIPPED)
    read = extract if is_trusted else reading.read
    extracted = titled(read(content, "", name, document=True), name)
    site = BUILT_IN if is_trusted else "Library"
    extracted = replace(extracted, site=site)
    if not is_trusted:
        return make_page(f"library:{name}", "library", extracted, extracted.url)
    # our text is not the page that its facts are from; the file of a user may be a copy of it
    page = make_page(f"library:{name}", "library", extracted)
    return page.model_copy(update={"facts_from": extracted.url})


def titled(extracted: Extracted, name: str) -> Extracted:
    """Return what a file says under its title or name."""
    return replace(extracted, title=extracted.title or PurePosixPath(name).stem)
