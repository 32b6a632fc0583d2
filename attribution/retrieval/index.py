"""Find the nearest chunks by FAISS inner product (V24 4.3; HNSW where they are many), and join
rankings.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attribution.errors import BadInput
from attribution.types import Chunk

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]  # (number of texts, dimensions), rows of length 1

FLOOR = 0.25  # cosine below which MiniLM's neighbours share no more than their language
# chunks above which a graph is searched: the time of exact search grows with their number
LARGE = 50_000
NEIGHBOURS = 32  # HNSW: links of a node …
BREADTH = 80  # … candidates while building …
SEARCHED = 128  # … and while searching


@dataclass(frozen=True)
class Candidate:
    chunk: Chunk
    similarity: float  # cosine


def nearest_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates by similarity, ties by page and place."""
    return sorted(candidates, key=lambda c: (-c.similarity, c.chunk.page_id, c.chunk.start))


class Index:
    """Inner-product search; vectors of length 1 make it cosine similarity. Exact up to `large`
    chunks, HNSW above.
    """

    def __init__(self, large: int = LARGE) -> None:
        self._chunks: list[Chunk] = []
        self._index: Any = None  # of faiss, which has no types
        self._large = large
        self.exact = True

    def __len__(self) -> int:
        return len(self._chunks)

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Add chunks with their vectors, one a row."""
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

    def search(self, vectors: Vectors, k: int, floor: float = FLOOR) -> list[Candidate]:
        """Return the k chunks nearest to any of the vectors; best first, ties by page and place.

        Neither order nor similarity depends on the order in which pages came or on the processor:
        the nearest are scored again in double precision, whose rounding errors are far below the
        sixth decimal.
        """
        if self._index is None:
            return []
        self._check(vectors)
        _, places = self._index.search(vectors, min(len(self), k + 8))
        best: dict[int, float] = {}
        for query, row in zip(vectors.astype("float64"), places.tolist(), strict=True):
            for place in row:
                if place >= 0:
                    score = float(self._index.reconstruct(place).astype("float64") @ query)
                    best[place] = max(score, best.get(place, -1.0))
        candidates = [
            Candidate(self._chunks[place], round(score, 6))
            for place, score in best.items()
            if score >= floor
        ]
        return nearest_first(candidates)[:k]

    def _check(self, vectors: Vectors) -> None:
        if vectors.shape[1] != self._index.d:
            raise BadInput(
                f"vectors of {vectors.shape[1]} dimensions cannot be compared with passages of "
                f"{self._index.d}: they come from different models; embed both with the same one"
            )


CONSTANT = 60  # the paper's; a smaller one gives the first ranks more weight


def reciprocal(rank: float) -> float:
    """Return the score that an item gets from its rank in one ranking."""
    return 1 / (CONSTANT + rank)


def rank_among(similarities: Sequence[float]) -> Callable[[float], int]:
    """Return a function from a similarity to its rank among these; 1 is the nearest."""
    ascending = sorted(similarities)

    def rank(similarity: float) -> int:
        return 1 + len(ascending) - bisect_right(ascending, similarity)

    return rank
