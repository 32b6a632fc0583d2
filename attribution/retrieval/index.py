"""Find the nearest chunks by FAISS inner product (V24 4.3), and join rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attribution.types import Chunk

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]  # (number of texts, dimensions), rows of length 1


@dataclass(frozen=True)
class Candidate:
    chunk: Chunk
    similarity: float  # cosine


class Index:
    """Exact inner-product search; vectors of length 1 make it cosine similarity."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        self._index: Any = None  # of faiss, which has no types

    def __len__(self) -> int:
        return len(self._chunks)

    def add(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Add chunks with their vectors, one a row."""
        import faiss

        if not chunks:
            return
        if self._index is None:
            self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)
        self._chunks += chunks

    def search(self, vectors: Vectors, k: int) -> list[Candidate]:
        """Return the k chunks nearest to any of the vectors; best first, ties by page and place.

        Neither order nor similarity depends on the order in which pages came or on the processor:
        the nearest are scored again in double precision, whose rounding errors are far below the
        sixth decimal.
        """
        import faiss

        if self._index is None:
            return []
        faiss.omp_set_num_threads(1)  # for this thread: a team costs more than the search
        _, places = self._index.search(vectors, min(len(self), k + 8))
        best: dict[int, float] = {}
        for query, row in zip(vectors.astype("float64"), places.tolist(), strict=True):
            for place in row:
                score = float(self._index.reconstruct(place).astype("float64") @ query)
                best[place] = max(score, best.get(place, -1.0))
        candidates = [Candidate(self._chunks[n], round(score, 6)) for n, score in best.items()]
        candidates.sort(key=lambda c: (-c.similarity, c.chunk.page_id, c.chunk.start))
        return candidates[:k]


CONSTANT = 60  # the paper's; a smaller one gives the first ranks more weight


def reciprocal(rank: float) -> float:
    """Return the score that an item gets from its rank in one ranking."""
    return 1 / (CONSTANT + rank)
