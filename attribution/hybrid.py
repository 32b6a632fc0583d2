"""Full text and meaning joined: BM25 and the vectors of the documents' beginnings, by reciprocal rank fusion.

Cormack, Clarke and Büttcher 2009, section 2. A document's vector is that of its title and first characters, made by the
embedded model whatever the run's embedder is: a library is never sent anywhere. The constants were chosen on one half
of WiCE's claims (benchmarks/library.py).
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from attribution.document_store import DocumentStore
from attribution.embedders import EMBEDDERS, Embedder
from attribution.registry import build
from attribution.retrieval import Index
from attribution.searchers.collection import Collection
from attribution.searchers.fulltext import Ranked
from attribution.searchers.library import Library
from attribution.settings import Settings
from attribution.store import Store
from attribution.types import Chunk, SearchHit, content_id

EMBEDDER = "minilm"
LEAD = 512  # characters of a document that its vector stands for, after its title
DEPTH = 100  # documents of each ranking that are joined
FUSION = 60  # the usual constant
MEANING = 1.0  # weight of the second ranking; the first has 1
NEAR = 0.5  # cosine from which on a document is about the query, whatever its words
MOST_IN_FOLDER = 1000  # of more articles no vectors are made while a run waits: a collection has them made beforehand


class Corpus(Protocol):
    """Documents under numbers, found by their words."""

    name: str

    def ranked(self, query: str, depth: int) -> Ranked: ...

    def hits(self, query: str, rows: Sequence[int]) -> list[SearchHit]: ...


@dataclass(frozen=True)
class Vectors:
    """float32 (len(rows), dimensions), rows of length 1, of the documents with those numbers."""

    rows: tuple[int, ...]
    matrix: Any


def fused(words: Sequence[int], near: Sequence[int], constant: float = FUSION, meaning: float = MEANING) -> list[int]:
    """All that either ranking holds, best first; ties by number."""
    score: dict[int, float] = defaultdict(float)
    for weight, ranking in ((1.0, words), (meaning, near)):
        for rank, row in enumerate(ranking, 1):
            score[row] += weight / (constant + rank)
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
        """Documents by the cosine of their vectors, best first."""
        with self._loading:
            if self._index is None:
                loaded = self._load()
                self._index = Index()
                self._index.add([Chunk("", row, row, "") for row in loaded.rows], loaded.matrix)
        if not len(self._index):
            return []
        found = self._index.search(self._embedder.embed([query]), depth, floor=-1.0)
        return [(candidate.chunk.start, candidate.similarity) for candidate in found]


def embedder(settings: Settings) -> Embedder:
    """The one that libraries are embedded with."""
    made: Embedder = build(EMBEDDERS, EMBEDDER, settings, "embedder")
    return made


def over_folder(library: Library, settings: Settings, store: Store) -> Hybrid:
    """A folder of articles, whose vectors are made at the first search and kept."""
    by = embedder(settings)

    def load() -> Vectors:
        pages = library.pages if len(library.pages) <= MOST_IN_FOLDER else ()
        leads = tuple(f"{page.title}\n{page.text[:LEAD]}" for page in pages)
        return Vectors(tuple(range(len(leads))), _kept(store, by, leads))

    return Hybrid(library, by, load)


def over_collection(collection: str, settings: Settings, store: Store) -> Hybrid:
    """A kept collection with the vectors it has; BadInput where there is none of that name."""
    by, documents = embedder(settings), DocumentStore(store)

    def load() -> Vectors:
        import numpy as np

        kept = documents.vectors(collection, by.version)
        return Vectors(tuple(kept), np.frombuffer(b"".join(kept.values()), dtype=np.float32).reshape(len(kept), -1))

    return Hybrid(Collection(documents, collection), by, load)


_folders: dict[tuple[str, tuple[str, ...]], Any] = {}  # the last few folders' vectors: runs of a process share them


def _kept(store: Store, by: Embedder, texts: tuple[str, ...]) -> Any:
    """The vectors of texts, from this process, the store or the model."""
    import numpy as np

    if (by.version, texts) not in _folders:
        keys = [content_id(by.version, text) for text in texts]
        known = store.vectors(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        made = dict(zip(new, by.embed(list(new.values())), strict=True))
        store.put_vectors({key: vector.tobytes() for key, vector in made.items()})
        known |= {key: vector.tobytes() for key, vector in made.items()}
        rows = [np.frombuffer(known[key], dtype=np.float32) for key in keys]
        while len(_folders) >= 4:
            _folders.pop(next(iter(_folders)))
        _folders[by.version, texts] = np.stack(rows) if rows else np.zeros((0, 1), dtype=np.float32)
    return _folders[by.version, texts]
