"""Keyword search over a folder of articles, in memory: no service, no key, no network."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path

import yaml

from attribution.errors import FetchFailed, SearchFailed, StageFailure
from attribution.fetching.content_type import MARKDOWN, SUFFIXES
from attribution.fetching.formats import extract
from attribution.fetching.page import Extracted, make_page, one_line, valid_date
from attribution.fetching.sandbox import Reading
from attribution.library.keywords import KeywordSearcher
from attribution.retrieval.bm25 import FullText, create
from attribution.settings import ROOT, Settings
from attribution.text.lines import FRONT_MATTER
from attribution.types import BUILT_IN, Failure, Page

SHIPPED = (ROOT / "examples" / "library").resolve()
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]++(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class _Index:
    """The articles of one folder at one moment."""

    pages: tuple[Page, ...]
    failures: tuple[Failure, ...]
    table: FullText
    lock: threading.Lock


_Fingerprint = tuple[tuple[str, int, int], ...]
_indexes: dict[Path, tuple[_Fingerprint, int, _Index]] = {}
_building = threading.Lock()


class FolderSearcher(KeywordSearcher):
    """Articles below `settings.library`: Markdown with optional front matter (title, date, url),
    and all other
    files that can be read."""

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
        """The articles when first used, so that rows stay the same during a run."""
        if self._opened is None:
            self._opened = self._shared_index()
        if not self._opened.pages:
            failures = self._opened.failures
            reason = (
                f" ({len(failures)} cannot be read, first: {failures[0].message})"
                if failures
                else ""
            )
            raise self._unusable(f"contains no articles{reason}")
        return self._opened

    def _shared_index(self) -> _Index:
        """The process's index of the folder, built again after a file has changed."""
        if not self._folder.is_dir():
            raise self._unusable("does not exist")
        folder = self._folder.resolve()
        with _building:
            files = _list_files(folder)
            entry = _indexes.get(folder)
            if entry is None or entry[:2] != (files, self._max_bytes):
                entry = (files, self._max_bytes, _build_index(folder, files, self._max_bytes))
                _indexes[folder] = entry
        return entry[2]

    def _unusable(self, reason: str) -> SearchFailed:
        return SearchFailed(
            "search_failed",
            f"the library folder {self._folder} {reason}; set `library` (--set library=FOLDER) to a folder with "
            f"{', '.join(sorted(SUFFIXES))} files, or give such a folder as a source",
            str(self._folder),
        )


def _list_files(folder: Path) -> _Fingerprint:
    """Path below the folder, modification time and size of every article; hidden files are left
    out.
    """
    files = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.suffix.lower() in SUFFIXES and not any(part.startswith(".") for part in name.parts):
            with suppress(OSError):  # removed since it was listed
                stat = path.stat()
                if path.is_file():
                    files.append((name.as_posix(), stat.st_mtime_ns, stat.st_size))
    return tuple(files)


def _build_index(folder: Path, files: _Fingerprint, max_bytes: int) -> _Index:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    create(database, "articles", "title", "body")
    pages: list[Page] = []
    failures: list[Failure] = []
    reading = Reading()
    for name, _, size in files:
        try:
            if size > max_bytes:
                raise FetchFailed(
                    "too_large",
                    f"{name} has {size:,} bytes; the limit is {max_bytes:,}. Split it",
                    name,
                )
            page = _read(folder / name, name, reading)
        except StageFailure as error:
            failures.append(error.as_failure("fetch", name))
            continue
        except OSError as error:
            reason = f"{name} cannot be read: {error.strerror or error}"
            failures.append(Failure(stage="fetch", subject=name, kind="unreadable", message=reason))
            continue
        row = (len(pages), page.title, page.text)
        database.execute("INSERT INTO articles(rowid, title, body) VALUES (?, ?, ?)", row)
        pages.append(page)
    return _Index(
        tuple(pages), tuple(failures), FullText(database, "articles", len(pages)), threading.Lock()
    )


def _read(path: Path, name: str, reading: Reading) -> Page:
    media_type = SUFFIXES[path.suffix.lower()]
    # the shipped articles are our own text; whatever else lies in a folder may be hostile
    trusted = media_type == MARKDOWN and path.is_relative_to(SHIPPED)
    read = extract if trusted else reading.read
    extracted = read(path.read_bytes(), media_type, name, document=True)
    reference, site = "", BUILT_IN if trusted else "Library"
    if media_type == MARKDOWN:
        extracted, reference = without_front_matter(extracted, name)
    titled = replace(extracted, title=extracted.title or path.stem, site=site)
    if (
        trusted
    ):  # our text is not the page that its facts are from; the file of a user may be a copy of it
        return make_page(f"library:{name}", "library", titled).model_copy(
            update={"facts_from": reference}
        )
    return make_page(f"library:{name}", "library", titled, reference)


def without_front_matter(extracted: Extracted, name: str) -> tuple[Extracted, str]:
    """Markdown without its YAML front matter and heading marks, and the front matter's `url`.

    `title` and `date` of the front matter become the metadata. FetchFailed if it is no YAML, or
    there is nothing else.
    """
    text = extracted.text
    metadata: dict[object, str] = {}
    if match := FRONT_MATTER.match(text):
        try:
            values = yaml.safe_load(match[1])
            if isinstance(values, dict):
                text = text[match.end() :]
                metadata = {
                    key: _plain(value)
                    for key, value in values.items()
                    if isinstance(value, str | int | date)
                }
        except (
            Exception
        ) as error:  # no YAMLError for a 13th month, "!!int x" or a thousand brackets
            message = f"{name}: the front matter is not valid YAML"
            raise FetchFailed("unreadable", message, name, detail=repr(error)) from error
    text = _HEADING.sub(lambda found: found[1].rstrip("#").rstrip(" \t"), text).strip()
    if not text:
        raise FetchFailed("no_text", f"{name} contains only front matter", name)
    url = metadata.get("url", "")
    title, published = (
        one_line(metadata.get("title", extracted.title)),
        valid_date(metadata.get("date", "")),
    )
    article = Extracted(title, text, published, extracted.site)
    return article, url if url.startswith(("https://", "http://")) else ""


def _plain(value: object) -> str:
    return str(value.date() if isinstance(value, datetime) else value)
