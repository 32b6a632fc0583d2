"""The words of a folder of articles, in memory, with SQLite's FTS5: no service, no key, no web."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path

import yaml

from attribution.errors import FetchFailed, SearchFailed, StageFailure
from attribution.extraction import sandbox
from attribution.extraction.content_type import MARKDOWN, SUFFIXES
from attribution.extraction.documents import extract
from attribution.extraction.page import Extracted, make_page, one_line, valid_date
from attribution.retrieval.bm25 import Ranked, Table, create, ranked, snippet
from attribution.settings import ROOT, Settings
from attribution.types import Failure, Page, SearchHit

NAME = "library"
SHIPPED = (ROOT / "examples" / "library").resolve()
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,4000}?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_HEADING_MARKS = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$", re.MULTILINE)


@dataclass(frozen=True)
class _Index:
    """The articles of one folder, as they were at one moment."""

    pages: tuple[Page, ...]
    failures: tuple[Failure, ...]
    table: Table
    lock: threading.Lock


_Fingerprint = tuple[tuple[str, int, int], ...]
_indexes: dict[Path, tuple[_Fingerprint, int, _Index]] = {}
_building = threading.Lock()


class Library:
    """Articles below `settings.library`: Markdown with optional front matter (title, date, url), text, HTML, PDF, DOCX
    and EPUB."""

    name = NAME

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.library
        self._limit = settings.page_bytes
        self._opened: _Index | None = None

    @classmethod
    def over(cls, folder: Path) -> Library:
        """The same over any folder."""
        return cls(Settings(library=folder))

    @property
    def pages(self) -> tuple[Page, ...]:
        return self._index().pages

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The files that could not be read, each with its reason."""
        return self._index().failures

    def search(self, query: str, k: int) -> list[SearchHit]:
        """The k best articles that say enough of what the query asks; none where the library knows nothing of it."""
        found = self.ranked(query, len(self.pages))
        return self.hits(query, [row for row in found.rows if row in found.relevant][:k])

    def ranked(self, query: str, depth: int) -> Ranked:
        """The articles by BM25, as places in `pages`."""
        index = self._index()
        with index.lock:
            return ranked(index.table, query, depth)

    def hits(self, query: str, rows: Sequence[int]) -> list[SearchHit]:
        """What is known of these articles, in this order."""
        index = self._index()
        with index.lock:
            snippets = [snippet(index.table, query, row) for row in rows]
        return [
            SearchHit(page.url, page.title, rank, NAME, query, one_line(words or page.text[:200]), page)
            for rank, (page, words) in enumerate(zip((index.pages[row] for row in rows), snippets, strict=True), 1)
        ]

    def _index(self) -> _Index:
        """The articles as they were when first asked for: places in `pages` stay what they are, for a run's life."""
        if self._opened is None:
            self._opened = self._shared()
        return self._opened

    def _shared(self) -> _Index:
        if not self._folder.is_dir():
            raise self._unusable("does not exist")
        folder = self._folder.resolve()
        with _building:
            files = _files(folder)
            known = _indexes.get(folder)
            if known is None or known[:2] != (files, self._limit):
                known = (files, self._limit, _build(folder, files, self._limit))
                _indexes[folder] = known
        index = known[2]
        if not index.pages:
            bad = index.failures
            reason = f" ({len(bad)} cannot be read, first: {bad[0].message})" if bad else ""
            raise self._unusable(f"holds no article{reason}")
        return index

    def _unusable(self, found: str) -> SearchFailed:
        return SearchFailed(
            "search_failed",
            f"the library folder {self._folder} {found}; set `library` (--set library=FOLDER) to a folder with "
            f"{', '.join(sorted(SUFFIXES))} files, or give such a folder as a source",
            str(self._folder),
        )


def _files(folder: Path) -> _Fingerprint:
    """Every article's path below the folder, time of change and size; hidden files are left out."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.suffix.lower() in SUFFIXES and not any(part.startswith(".") for part in name.parts):
            with suppress(OSError):  # removed since it was listed
                stat = path.stat()
                if path.is_file():
                    found.append((name.as_posix(), stat.st_mtime_ns, stat.st_size))
    return tuple(found)


def _build(folder: Path, files: _Fingerprint, limit: int) -> _Index:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    create(database, "articles", "title", "body")
    pages: list[Page] = []
    failures: list[Failure] = []
    for name, _, size in files:
        try:
            if size > limit:
                raise FetchFailed("too_large", f"{name} has {size:,} bytes, at most {limit:,} are read; split it", name)
            page = _read(folder / name, name)
        except StageFailure as error:
            failures.append(error.as_failure("search", name))
            continue
        except OSError as error:
            reason = f"{name} cannot be read: {error.strerror or error}"
            failures.append(Failure(stage="search", subject=name, kind="unreadable", message=reason))
            continue
        database.execute(
            "INSERT INTO articles(rowid, title, body) VALUES (?, ?, ?)", (len(pages), page.title, page.text)
        )
        pages.append(page)
    return _Index(tuple(pages), tuple(failures), Table(database, "articles", len(pages)), threading.Lock())


def _read(path: Path, name: str) -> Page:
    media_type = SUFFIXES[path.suffix.lower()]
    # the shipped articles are our own text; whatever else lies in a folder may be hostile
    trusted = media_type == MARKDOWN and path.is_relative_to(SHIPPED)
    read = extract if trusted else sandbox.read
    extracted = read(path.read_bytes(), media_type, name, document=True)
    reference = ""
    if media_type == MARKDOWN:
        extracted, reference = article(extracted, name)
    titled = replace(extracted, title=extracted.title or path.stem, site="Library")
    return make_page(f"library:{name}", "library", titled, reference)


def article(extracted: Extracted, name: str) -> tuple[Extracted, str]:
    """Markdown without its front matter and heading marks, and the address to read on."""
    text = extracted.text
    known: dict[object, str] = {}
    if found := _FRONT_MATTER.match(text):
        try:
            about = yaml.safe_load(found[1])
            if isinstance(about, dict):
                text = text[found.end() :]
                known = {key: _plain(value) for key, value in about.items() if isinstance(value, str | int | date)}
        except Exception as error:  # no YAMLError for a 13th month, "!!int x" or a thousand brackets
            reason = one_line(str(error).partition("\n")[0]) or type(error).__name__
            raise FetchFailed("unreadable", f"{name}: its front matter is no valid YAML: {reason}", name) from error
    text = _HEADING_MARKS.sub(r"\1", text).strip()
    if not text:
        raise FetchFailed("no_text", f"{name} holds nothing but its front matter", name)
    reference = known.get("url", "")
    title, published = one_line(known.get("title", extracted.title)), valid_date(known.get("date", ""))
    article = Extracted(title, text, published, extracted.site)
    return article, reference if reference.startswith(("https://", "http://")) else ""


def _plain(value: object) -> str:
    return str(value.date() if isinstance(value, datetime) else value)
