"""FAISS inner product over the question's chunks, top k per claim (V24, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from attribution.types import Chunk

FLOOR = 0.25  # cosine under which MiniLM's neighbours share no more than their language


@dataclass(frozen=True)
class Candidate:
    chunk: Chunk
    similarity: float  # cosine


class Index:
    """Exact inner-product search; vectors of length 1 make it cosine similarity."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        self._index: Any = None

    def __len__(self) -> int:
        return len(self._chunks)

    def add(self, chunks: Sequence[Chunk], vectors: Any) -> None:
        """Chunks with their vectors, float32 (len(chunks), dimensions)."""
        import faiss

        if not chunks:
            return
        if self._index is None:
            self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)
        self._chunks += chunks

    def search(self, vectors: Any, k: int, floor: float = FLOOR) -> list[Candidate]:
        """The k chunks nearest to any of the vectors, (n, dimensions); best first, ties by page and place.

        The order does not depend on the order in which pages came.
        """
        if self._index is None:
            return []
        best: dict[int, float] = {}
        scores, places = self._index.search(vectors, min(len(self), k + 8))
        for score, place in zip(scores.ravel().tolist(), places.ravel().tolist(), strict=True):
            if place >= 0 and score >= floor:
                best[place] = max(score, best.get(place, -1.0))
        found = [Candidate(self._chunks[place], round(score, 6)) for place, score in best.items()]
        found.sort(key=lambda c: (-c.similarity, c.chunk.page_id, c.chunk.start))
        return found[:k]
