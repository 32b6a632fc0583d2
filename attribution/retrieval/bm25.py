"""BM25 over FTS5 tables, and the gate that keeps a corpus from answering what it does not hold.

Robertson and Zaragoza 2009, section 3. The first column of a table weighs more where it has two:
title and text.
"""

from __future__ import annotations

import math
import re
import sqlite3
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attribution.text.words import STOP_WORDS, words_of
from attribution.types import Chunk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]  # of chunks

MAX_TERMS = 64
DEPTH = 1000  # texts that are ranked
RARE = 2  # a word in at most so many documents shows by itself what a document is about …
RARE_LENGTH = 4  # … if it is not an abbreviation
# of a capitalised word within a sentence: documents without the query's names are seldom about it
NAME_WEIGHT = 2.0
MIN_SHARE = 0.25  # of the query's information (summed idf) that a document must contain
TITLE_WEIGHT = 3.0

_NAME = re.compile(r"(?<=[^.!?:*] )[\"(]?([A-Z][^\W_]+)")


def create(database: sqlite3.Connection, name: str, *columns: str) -> None:
    """Create an empty FTS5 table; neither name nor columns are ever foreign text."""
    database.execute(
        f"CREATE VIRTUAL TABLE {name} USING fts5({', '.join(columns)}, tokenize='porter unicode61')"
    )


@dataclass(frozen=True)
class FullText:
    """An FTS5 table of titles and texts; its name is never foreign text. Used by one thread at a
    time.
    """

    database: sqlite3.Connection
    name: str
    documents: int


def relevant(table: FullText, query: str, depth: int) -> list[int]:
    """Return the rows that hold enough of what the query asks.

    Args:
        table: Titles and texts.
        query: Its first `MAX_TERMS` words count that are no stop words.
        depth: Rows that are considered, the best by BM25.

    Returns:
        Rows of the table, best first; ties by row.
    """
    words = _words(query)[:MAX_TERMS]
    rows_with = {word: _rows_with(table, word) for word in words}
    if not any(rows_with.values()):
        return []
    scored = _scored(table.database, table.name, rows_with, depth, TITLE_WEIGHT, 1.0)
    names = {name.lower() for name in _NAME.findall(query)}
    return _relevant([row for row, _ in scored], rows_with, table.documents, names)


class Texts:
    """Texts in memory, ranked by the words they share with a query."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self._database = sqlite3.connect(
            ":memory:", check_same_thread=False
        )  # a run may change its thread
        weakref.finalize(self, self._database.close)
        create(self._database, "texts", "body")
        self._count = 0
        self.add(texts)

    def add(self, texts: Sequence[str]) -> None:
        rows = enumerate(texts, self._count)
        self._database.executemany("INSERT INTO texts(rowid, body) VALUES (?, ?)", rows)
        self._count += len(texts)

    def ranked(self, query: str, every_word: bool = False) -> list[tuple[int, float]]:
        """Rank the texts that hold a word of the query.

        Args:
            query: Its words count, each once.
            every_word: Stop words and single letters count too.

        Returns:
            The numbers of texts with FTS5's score, best first: the least is best, ties by number.
        """
        words = list(dict.fromkeys(words_of(query))) if every_word else _words(query)
        return _scored(self._database, "texts", words, DEPTH) if words else []


class Chunks:
    """Chunks ranked by the words they share with a text, whatever the order in which they came."""

    def __init__(self) -> None:
        import numpy as np

        self.chunks: list[Chunk] = []
        self._texts = Texts()
        self._places: Numbers = np.zeros(0, dtype=np.int64)

    def add(self, chunks: Sequence[Chunk]) -> None:
        self._texts.add([chunk.text for chunk in chunks])
        self.chunks += chunks

    @property
    def places(self) -> Numbers:
        """The place of each chunk by page and start, which decides ties."""
        import numpy as np

        if len(self._places) < len(self.chunks):
            numbers = range(len(self.chunks))
            self._places = np.argsort(sorted(numbers, key=lambda number: self.chunks[number][:2]))
        return self._places

    def ranked(self, text: str) -> Numbers:
        """Return the numbers of chunks that have a word of the text, best first."""
        import numpy as np

        rows = np.array(self._texts.ranked(text)).reshape(-1, 2)
        numbers = rows[:, 0].astype(np.int64)
        return numbers[np.lexsort((self.places[numbers], rows[:, 1].round(6)))]


def _words(query: str) -> list[str]:
    """Return the words of at least two letters that are no stop words, each once."""
    words = dict.fromkeys(words_of(query))
    return [word for word in words if len(word) > 1 and word not in STOP_WORDS]


def _match(words: Iterable[str]) -> str:
    # Words are letters and digits only, and quoted: nothing in them can be FTS5 syntax.
    return " OR ".join(f'"{word}"' for word in words)


def _scored(
    database: sqlite3.Connection, name: str, words: Iterable[str], depth: int, *weights: float
) -> list[tuple[int, float]]:
    bm25 = f"bm25({', '.join((name, *map(str, weights)))})"
    sql = f"SELECT rowid, {bm25} FROM {name} WHERE {name} MATCH ? ORDER BY 2, 1 LIMIT ?"
    return database.execute(sql, (_match(words), depth)).fetchall()


def _rows_with(table: FullText, word: str) -> set[int]:
    rows = table.database.execute(
        f"SELECT rowid FROM {table.name} WHERE {table.name} MATCH ?", (_match([word]),)
    )
    return {row for (row,) in rows}


def _relevant(
    rows: Sequence[int], rows_with: dict[str, set[int]], documents: int, names: set[str]
) -> list[int]:
    """The rows with two of the words or a rare one, and a fair share of the query's information.

    The share keeps documents about something else out: a claim on Mekong boats finds none through
    "boats".
    """
    # A word in no document weighs as much as one in a single one: in a small library it would
    # outweigh all others.
    weight = {
        word: math.log(1 + documents / (0.5 + max(1, len(found))))
        * (NAME_WEIGHT if word in names else 1)
        for word, found in rows_with.items()
    }
    least = MIN_SHARE * sum(weight.values())
    relevant = []
    for row in rows:
        shared = [word for word, found in rows_with.items() if row in found]
        rare = any(
            len(rows_with[w]) <= RARE and len(w) >= RARE_LENGTH and not w.isdecimal()
            for w in shared
        )
        if (len(shared) >= 2 or rare) and sum(weight[w] for w in shared) >= least:
            relevant.append(row)
    return relevant
