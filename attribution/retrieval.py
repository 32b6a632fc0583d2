"""FAISS inner product over the question's chunks, top k per claim (V24, section 4.4); HNSW where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attribution.errors import BadInput
from attribution.types import Chunk

FLOOR = 0.25  # cosine under which MiniLM's neighbours share no more than their language
LARGE = 50_000  # chunks from which a graph is searched: the time of exact search grows with their number
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
