"""Full text and meaning joined: BM25 and the vectors of the documents' first passages, by reciprocal rank fusion.

Cormack, Clarke and Büttcher 2009, section 2. A document is as near as the nearest of its passages. They are embedded by
the model that comes along, whatever the run's embedder is: a library is never sent anywhere. The constants were chosen
on one half of WiCE's claims (benchmarks/library.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from attribution.chunkers.fixed import Fixed
from attribution.collections.collection import Collection
from attribution.collections.folder import Library
from attribution.collections.store import DocumentStore
from attribution.embedders import EMBEDDERS, Embedder
from attribution.extraction.page import Extracted, make_page
from attribution.registry import build
from attribution.retrieval.bm25 import Ranked
from attribution.retrieval.index import Index
from attribution.retrieval.rank_fusion import reciprocal_ranks
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.types import Chunk, SearchHit, content_id

EMBEDDER = "minilm"
LENGTH, PASSAGES = 512, 4  # characters of a passage (chunker fixed), and how many of a document have vectors
DEPTH = 100  # documents of each ranking that are joined
FUSION = 1  # of the ranks: small, for the first places are what counts
MEANING = 0.5  # weight of the second ranking; the first has 1
NEAR = 0.6  # cosine from which on a document is about the query, whatever its words
MOST_IN_FOLDER = 1000  # passages: of more no vectors are made while a run waits; a collection has them made beforehand
FLAT = 1_000_000  # vectors searched exactly: a graph takes longer to build than a run takes to search


class Corpus(Protocol):
    """Documents under numbers, found by their words."""

    name: str

    def ranked(self, query: str, depth: int) -> Ranked: ...

    def hits(self, query: str, rows: Sequence[int]) -> list[SearchHit]: ...


@dataclass(frozen=True)
class Vectors:
    """One vector a passage: the numbers of their documents, and float32 (len(rows), dimensions), rows of length 1."""

    rows: Sequence[int]
    matrix: Any

    @classmethod
    def of(cls, rows: Sequence[int], data: Sequence[bytes]) -> Vectors:
        import numpy as np

        matrix = np.frombuffer(b"".join(data), dtype=np.float32)
        return cls(rows, matrix.reshape(len(rows), -1) if rows else matrix.reshape(0, 1))


def passages(title: str, text: str) -> list[str]:
    """What stands for a document: the title over each of its first passages."""
    page = make_page(title, "document", Extracted(title, text[: LENGTH * PASSAGES]))
    return [f"{title}\n{chunk.text}" for chunk in Fixed(Settings(chunk_size=LENGTH)).chunk(page)[:PASSAGES]]


def fused(words: Sequence[int], near: Sequence[int], constant: float = FUSION, meaning: float = MEANING) -> list[int]:
    """All that either ranking holds, best first; ties by number."""
    score = reciprocal_ranks(((1.0, words), (meaning, near)), constant)
    return sorted(score, key=lambda row: (-score[row], row))


class Hybrid:
    """A searcher of both; the vectors are loaded at its first search and stay as they are for its life, a run."""

    def __init__(self, corpus: Corpus, embedder: Embedder, load: Callable[[], Vectors]) -> None:
        self.name = corpus.name
        self._corpus, self._embedder, self._load = corpus, embedder, load
        self._index: Index | None = None
        self._loading = threading.Lock()

    def search(self, query: str, k: int) -> list[SearchHit]:
        """The k best documents that share enough of the query's words or are near to it; else none."""
        words = self._corpus.ranked(query, DEPTH)
        near = self.near(query, DEPTH)
        about = words.relevant | {row for row, cosine in near if cosine >= NEAR}
        rows = [row for row in fused(words.rows, [row for row, _ in near]) if row in about]
        return self._corpus.hits(query, rows[:k])

    def near(self, query: str, depth: int) -> list[tuple[int, float]]:
        """Documents by the cosine of their nearest passage, best first."""
        with self._loading:
            if self._index is None:
                loaded = self._load()
                self._index = Index(FLAT)
                self._index.add([Chunk("", row, row, "") for row in loaded.rows], loaded.matrix)
        if not len(self._index):
            return []
        found = self._index.search(self._embedder.embed([query]), depth * PASSAGES, floor=-1.0)
        best: dict[int, float] = {}
        for candidate in found:
            best.setdefault(candidate.chunk.start, candidate.similarity)
        return list(best.items())[:depth]


def embedder(settings: Settings) -> Embedder:
    """The one that libraries are embedded with."""
    made: Embedder = build(EMBEDDERS, EMBEDDER, settings, "embedder")
    return made


def over_folder(library: Library, settings: Settings, store: Store) -> Hybrid:
    """A folder of articles, whose vectors are made at the first search and kept."""
    by = embedder(settings)

    def load() -> Vectors:
        cut = [(row, text) for row, page in enumerate(library.pages) for text in passages(page.title, page.text)]
        cut = cut if len(cut) <= MOST_IN_FOLDER else []
        return Vectors([row for row, _ in cut], _kept(store, by, tuple(text for _, text in cut)))

    return Hybrid(library, by, load)


def over_collection(collection: str, settings: Settings, store: Store) -> Hybrid:
    """A kept collection with the vectors it has; BadInput where there is none of that name."""
    by, documents = embedder(settings), DocumentStore(store)

    def load() -> Vectors:
        return Vectors.of(*documents.vectors(collection, by.version))

    return Hybrid(Collection(documents, collection), by, load)


_folders: dict[tuple[str, tuple[str, ...]], Any] = {}  # the last few folders' vectors: runs of a process share them


def _kept(store: Store, by: Embedder, texts: tuple[str, ...]) -> Any:
    """The vectors of texts, from this process, the store or the model."""
    if (by.version, texts) not in _folders:
        keys = [content_id(by.version, text) for text in texts]
        known = store.vectors(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        made = dict(zip(new, by.embed(list(new.values())), strict=True))
        store.put_vectors({key: vector.tobytes() for key, vector in made.items()})
        known |= {key: vector.tobytes() for key, vector in made.items()}
        while len(_folders) >= 4:
            _folders.pop(next(iter(_folders)))
        _folders[by.version, texts] = Vectors.of(range(len(keys)), [known[key] for key in keys]).matrix
    return _folders[by.version, texts]
