"""FAISS inner product over the question's chunks, top k per claim (V24, section 4.4); HNSW where they are many.

Beside the vectors, the words: a name or a year that a claim turns on is one word among many to a vector.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from attribution.errors import BadInput
from attribution.text.lexical import words_of
from attribution.types import Chunk

H = TypeVar("H", bound=Hashable)

FLOOR = 0.25  # cosine under which MiniLM's neighbours share no more than their language
LARGE = 50_000  # chunks from which a graph is searched: the time of exact search grows with their number
FUSION = 60  # the usual constant of reciprocal rank fusion
NEIGHBOURS, BREADTH, SEARCHED = 32, 80, 128  # HNSW: links of a node, candidates while building and while searching


@dataclass(frozen=True)
class Candidate:
    chunk: Chunk
    similarity: float  # cosine


class Index:
    """Inner-product search; vectors of length 1 make it cosine similarity. Exact up to `large` chunks, HNSW beyond."""

    def __init__(self, large: int = LARGE) -> None:
        self._chunks: list[Chunk] = []
        self._index: Any = None
        self._large = large
        self.exact = True

    def __len__(self) -> int:
        return len(self._chunks)

    def add(self, chunks: Sequence[Chunk], vectors: Any) -> None:
        """Chunks with their vectors, float32 (len(chunks), dimensions)."""
        import faiss

        if not chunks:
            return
        if self._index is None:
            self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._check(vectors)
        if self.exact and len(self) + len(chunks) > self._large:
            graph = faiss.IndexHNSWFlat(self._index.d, NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction, graph.hnsw.efSearch = BREADTH, SEARCHED
            if len(self):
                graph.add(self._index.reconstruct_n(0, len(self)))
            self._index, self.exact = graph, False
        self._index.add(vectors)
        self._chunks += chunks

    def search(self, vectors: Any, k: int, floor: float = FLOOR) -> list[Candidate]:
        """The k chunks nearest to any of the vectors, (n, dimensions); best first, ties by page and place.

        Neither order nor similarity depends on the order in which pages came or on the processor: the nearest are
        scored again in double precision, whose rounding is far below the sixth decimal.
        """
        if self._index is None:
            return []
        self._check(vectors)
        _, places = self._index.search(vectors, min(len(self), k + 8))
        exact, best = vectors.astype("float64"), dict[int, float]()
        for query, row in zip(exact, places.tolist(), strict=True):
            for place in row:
                if place >= 0:
                    score = float(self._index.reconstruct(place).astype("float64") @ query)
                    best[place] = max(score, best.get(place, -1.0))
        found = [Candidate(self._chunks[p], round(score, 6)) for p, score in best.items() if score >= floor]
        found.sort(key=lambda c: (-c.similarity, c.chunk.page_id, c.chunk.start))
        return found[:k]

    def _check(self, vectors: Any) -> None:
        if vectors.shape[1] != self._index.d:
            raise BadInput(
                f"vectors of {vectors.shape[1]} dimensions meet passages of {self._index.d}: "
                "they come from different models; embed both with one"
            )


class Words:
    """Chunks by BM25 of the words they share with a text (SQLite's FTS5)."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        self._database = sqlite3.connect(":memory:", check_same_thread=False)  # a run may change its thread
        self._database.execute("CREATE VIRTUAL TABLE chunks USING fts5(body, tokenize='porter unicode61')")
        weakref.finalize(self, self._database.close)

    def add(self, chunks: Sequence[Chunk]) -> None:
        rows = [(number, chunk.text) for number, chunk in enumerate(chunks, len(self._chunks))]
        self._database.executemany("INSERT INTO chunks(rowid, body) VALUES (?, ?)", rows)
        self._chunks += chunks

    def ranked(self, text: str, most: int = 1000) -> list[Chunk]:
        """Best first, ties by page and place; none without one of the words."""
        words = dict.fromkeys(word for word in words_of(text) if len(word) > 1)
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)  # letters and digits only: no syntax of FTS5
        found = self._database.execute(
            "SELECT rowid, bm25(chunks) FROM chunks WHERE chunks MATCH ? ORDER BY 2, 1 LIMIT ?", (match, most)
        ).fetchall()
        scored = [(round(score, 6), self._chunks[row]) for row, score in found]
        return [chunk for _, chunk in sorted(scored, key=lambda s: (s[0], s[1].page_id, s[1].start))]


def reciprocal_ranks(rankings: Sequence[tuple[float, Sequence[H]]], constant: float = FUSION) -> dict[H, float]:
    """Scores by reciprocal rank fusion of weighted rankings (Cormack, Clarke and Büttcher 2009, section 2)."""
    score: dict[H, float] = defaultdict(float)
    for weight, ranking in rankings:
        for rank, held in enumerate(ranking, 1):
            score[held] += weight / (constant + rank)
    return score
