"""Full-text search over a folder of articles, in memory, with SQLite's FTS5: no service, no key, no web."""

from __future__ import annotations

import math
import re
import sqlite3
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path

import yaml

from attribution.errors import FetchFailed, SearchFailed, StageFailure
from attribution.extraction import Extracted, extract, make_page, one_line, valid_date
from attribution.media import MARKDOWN, SUFFIXES
from attribution.settings import Settings
from attribution.types import Failure, Page, SearchHit

NAME = "library"
MAX_TERMS = 64
RARE = 2  # a word on at most so many pages says by itself what the page is about …
RARE_LENGTH = 4  # … if it is no abbreviation
NAME_WEIGHT = 2.0  # a capital within a sentence: a page without the query's names is seldom about it
MIN_SHARE = 0.25  # of the query's information (summed idf) that a page must contain

_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"(?<=[^.!?:*] )[\"(]?([A-Z][^\W_]+)")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,4000}?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_HEADING_MARKS = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$", re.MULTILINE)
_STOP_WORDS = (
    "a about after all also although am an and any are as at be became because been before being between both but "
    "by can could did do does during each for from had has have he her here hers him his how i if in into is it its "
    "itself just like made make many may me might more most much must my no nor not now of off on once one only or "
    "other our out over own s same she should since so some such t than that the their theirs them then there these "
    "they this those through to too two under until up upon us very was we were what when where whether which while "
    "who whom whose why will with within without would yet you your "
)
STOP_WORDS = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True)
class _Index:
    """The articles of one folder, as they were at one moment."""

    pages: tuple[Page, ...]
    failures: tuple[Failure, ...]
    database: sqlite3.Connection
    lock: threading.Lock


_Fingerprint = tuple[tuple[str, int, int], ...]
_indexes: dict[Path, tuple[_Fingerprint, int, _Index]] = {}
_building = threading.Lock()


class Library:
    """Articles below `settings.library`: *.md with optional front matter (title, date, url), *.txt, *.html, *.pdf."""

    name = NAME

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.library
        self._limit = settings.page_bytes

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
        index = self._index()
        distinct = dict.fromkeys(_WORD.findall(query.lower()))
        words = [word for word in distinct if len(word) > 1 and word not in STOP_WORDS][:MAX_TERMS]
        if not words:
            return []
        with index.lock:
            wanted = _relevant(index, words, {name.lower() for name in _NAME.findall(query)})
            rows = index.database.execute(
                "SELECT rowid, snippet(articles, 1, '', '', '…', 24) FROM articles WHERE articles MATCH ? "
                "ORDER BY bm25(articles, 3.0, 1.0), rowid",
                (_match(words),),
            ).fetchall()
        found = [(index.pages[rowid], snippet) for rowid, snippet in rows if rowid in wanted]
        return [
            SearchHit(page.url, page.title, rank, NAME, query, one_line(snippet), page)
            for rank, (page, snippet) in enumerate(found[:k], 1)
        ]

    def _index(self) -> _Index:
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
            f"the library folder {self._folder} {found}; set `library` (--set library=FOLDER) to a folder with .md, "
            ".txt, .html or .pdf files, or give such a folder as a source",
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


def _match(words: list[str]) -> str:
    # Words are letters and digits only, and quoted: nothing in them can be FTS5 syntax.
    return " OR ".join(f'"{word}"' for word in words)


def _relevant(index: _Index, words: list[str], names: set[str]) -> set[int]:
    """The pages with two of the words or a rare one, and a fair share of the query's information.

    The share is what keeps a page about something else out: a claim on Mekong boats finds no page through "boats".
    """
    where = {}
    for word in words:
        rows = index.database.execute("SELECT rowid FROM articles WHERE articles MATCH ?", (_match([word]),))
        where[word] = {int(row[0]) for row in rows}
    # A word on no page weighs as one on a single page: in a small library it would outweigh all others.
    weight = {
        word: math.log(1 + len(index.pages) / (0.5 + max(1, len(pages)))) * (NAME_WEIGHT if word in names else 1)
        for word, pages in where.items()
    }
    least = MIN_SHARE * sum(weight.values())
    relevant = set()
    for page in set[int]().union(*where.values()):
        held = [word for word in words if page in where[word]]
        rare = any(len(where[w]) <= RARE and len(w) >= RARE_LENGTH and not w.isdecimal() for w in held)
        if (len(held) >= 2 or rare) and sum(weight[w] for w in held) >= least:
            relevant.add(page)
    return relevant


def _build(folder: Path, files: _Fingerprint, limit: int) -> _Index:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("CREATE VIRTUAL TABLE articles USING fts5(title, body, tokenize='porter unicode61')")
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
    return _Index(tuple(pages), tuple(failures), database, threading.Lock())


def _read(path: Path, name: str) -> Page:
    media_type = SUFFIXES[path.suffix.lower()]
    extracted = extract(path.read_bytes(), media_type, name)
    reference = ""
    if media_type == MARKDOWN:
        extracted, reference = _article(extracted, name)
    titled = replace(extracted, title=extracted.title or path.stem, site="Library")
    return make_page(f"library:{name}", "library", titled, reference)


def _article(extracted: Extracted, name: str) -> tuple[Extracted, str]:
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
