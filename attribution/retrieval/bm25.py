"""BM25 over an FTS5 table of titles and texts, and the gate that keeps a library from answering what it does not hold.

The table has the columns title and text (whatever the second is called), tokenized by `porter unicode61`.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from attribution.text.lexical import STOP_WORDS, words_of

MAX_TERMS = 64
RARE = 2  # a word in at most so many documents says by itself what the document is about …
RARE_LENGTH = 4  # … if it is no abbreviation
NAME_WEIGHT = 2.0  # a capital within a sentence: a document without the query's names is seldom about it
MIN_SHARE = 0.25  # of the query's information (summed idf) that a document must contain
LARGE = 1000  # documents from which on a word in more than half of them is left out: to BM25 it says nothing
TITLE_WEIGHT = 3.0

_NAME = re.compile(r"(?<=[^.!?:*] )[\"(]?([A-Z][^\W_]+)")


@dataclass(frozen=True)
class Table:
    """An FTS5 table; its name is never foreign text. Used by one thread at a time."""

    database: sqlite3.Connection
    name: str
    documents: int


@dataclass(frozen=True)
class Ranked:
    """Rows, best first, and those of them that say enough of what was asked."""

    rows: tuple[int, ...] = ()
    relevant: frozenset[int] = frozenset()


def ranked(table: Table, query: str, depth: int) -> Ranked:
    """The best `depth` documents by BM25, ties by row."""
    distinct = dict.fromkeys(words_of(query))
    words = [word for word in distinct if len(word) > 1 and word not in STOP_WORDS][:MAX_TERMS]
    where = {word: _rows_with(table, word) for word in words}
    if table.documents >= LARGE:
        telling = {word: rows for word, rows in where.items() if 2 * len(rows) <= table.documents}
        where = telling if any(telling.values()) else where
    if not any(where.values()):
        return Ranked()
    order = f"ORDER BY bm25({table.name}, {TITLE_WEIGHT}, 1.0), rowid LIMIT ?"
    found = table.database.execute(
        f"SELECT rowid FROM {table.name} WHERE {table.name} MATCH ? {order}", (_match(where), depth)
    )
    rows = tuple(int(row[0]) for row in found)
    return Ranked(rows, _relevant(rows, where, table.documents, {name.lower() for name in _NAME.findall(query)}))


def snippet(table: Table, query: str, row: int) -> str:
    """A few words around what a document has of the query; empty where it has none."""
    words = dict.fromkeys(w for w in words_of(query) if w not in STOP_WORDS)
    if not words:
        return ""
    sql = f"SELECT snippet({table.name}, 1, '', '', '…', 24) FROM {table.name} WHERE {table.name} MATCH ? AND rowid = ?"
    found = table.database.execute(sql, (_match(dict.fromkeys(list(words)[:MAX_TERMS])), row)).fetchone()
    return str(found[0]) if found else ""


def _rows_with(table: Table, word: str) -> set[int]:
    rows = table.database.execute(f"SELECT rowid FROM {table.name} WHERE {table.name} MATCH ?", (_match([word]),))
    return {row[0] for row in rows.fetchall()}


def _match(words: Iterable[str]) -> str:
    # Words are letters and digits only, and quoted: nothing in them can be FTS5 syntax.
    return " OR ".join(f'"{word}"' for word in words)


def _relevant(rows: tuple[int, ...], where: dict[str, set[int]], documents: int, names: set[str]) -> frozenset[int]:
    """The rows with two of the words or a rare one, and a fair share of the query's information.

    The share is what keeps a document about something else out: a claim on Mekong boats finds none through "boats".
    """
    # A word in no document weighs as one in a single one: in a small library it would outweigh all others.
    weight = {
        word: math.log(1 + documents / (0.5 + max(1, len(held)))) * (NAME_WEIGHT if word in names else 1)
        for word, held in where.items()
    }
    least = MIN_SHARE * sum(weight.values())
    relevant = set()
    for row in rows:
        held = [word for word in where if row in where[word]]
        rare = any(len(where[w]) <= RARE and len(w) >= RARE_LENGTH and not w.isdecimal() for w in held)
        if (len(held) >= 2 or rare) and sum(weight[w] for w in held) >= least:
            relevant.add(row)
    return frozenset(relevant)
