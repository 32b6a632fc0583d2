"""Search documents by keywords (BM25) and vectors, joined by reciprocal rank fusion.

Cormack, Clarke and Büttcher 2009, section 2. A document is as similar as the most similar of its
first passages. The embedded model makes their vectors, whatever the run's embedder is: documents
are never sent anywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attribution.embedders import EMBEDDERS, Embedder
from attribution.errors import BadInput, SearchFailed
from attribution.fetching.page import Extracted, make_page
from attribution.library.folder import DEPTH, FolderSearcher, KeywordSearcher
from attribution.library.store import DocumentStore
from attribution.retrieval.bm25 import FullText
from attribution.retrieval.chunkers import Fixed
from attribution.retrieval.index import Index, reciprocal_ranks
from attribution.settings import COLLECTION, Settings
from attribution.store.store import Store
from attribution.types import Chunk, Failure, Page, SearchHit, content_id

if TYPE_CHECKING:
    import numpy as np

EMBEDDER = "minilm"
LENGTH = 512  # characters of a passage (chunker fixed)
PASSAGES = 4  # of a document that are embedded
FUSION = 1  # the constant added to ranks: small, since the first places count most
VECTOR_WEIGHT = 0.5  # of the vector ranking; the keyword ranking has 1
MIN_SIMILARITY = 0.6  # cosine from which a document is relevant, whatever its words
MAX_FOLDER_PASSAGES = 1000  # a run doesn't wait for the vectors of more
FLAT = 1_000_000  # vectors searched exactly: building a graph takes longer than a run's searches


class CollectionSearcher(KeywordSearcher):
    """The documents of one collection, as they are when it is searched."""

    def __init__(self, store: DocumentStore, collection: str) -> None:
        """BadInput with the names of the others if there is no such collection."""
        self.name = f"{COLLECTION}{collection}"
        self._store, self._collection = store, collection
        with store.full_text(collection):
            pass

    @contextmanager
    def full_text(self) -> Iterator[FullText]:
        try:
            with self._store.full_text(self._collection) as table:
                yield table
        except BadInput as error:  # removed since the run began
            raise SearchFailed("search_failed", str(error), self.name) from error

    def documents(self, rows: Sequence[int]) -> Mapping[int, Page]:
        return self._store.pages(rows)


@dataclass(frozen=True)
class Vectors:
    """One vector per passage: the rows of their documents, and float32 (len(rows), dimensions) of
    length 1.
    """

    rows: Sequence[int]
    matrix: np.ndarray

    @classmethod
    def from_bytes(cls, rows: Sequence[int], data: Sequence[bytes]) -> Vectors:
        import numpy as np

        matrix = np.frombuffer(b"".join(data), dtype=np.float32)
        return cls(rows, matrix.reshape(len(rows), -1) if rows else matrix.reshape(0, 1))


def passages(title: str, text: str) -> list[str]:
    """The texts that are embedded for a document: its first passages, each under the title."""
    page = make_page(title, "document", Extracted(title, text[: LENGTH * PASSAGES]))
    return [
        f"{title}\n{chunk.text}"
        for chunk in Fixed(Settings(chunk_size=LENGTH)).chunk(page)[:PASSAGES]
    ]


def fuse(by_words: Sequence[int], by_vectors: Sequence[int]) -> list[int]:
    """The rows of both rankings, best first; ties by row."""
    score = reciprocal_ranks(((1.0, by_words), (VECTOR_WEIGHT, by_vectors)), FUSION)
    return sorted(score, key=lambda row: (-score[row], row))


class HybridSearcher:
    """Searches by words and vectors, which are loaded at the first search and stay for a run."""

    def __init__(
        self, keywords: KeywordSearcher, embedder: Embedder, load: Callable[[], Vectors]
    ) -> None:
        self.name = keywords.name
        self._keywords, self._embedder, self._load = keywords, embedder, load
        self._index: Index | None = None
        self._loading = threading.Lock()

    @property
    def failures(self) -> Sequence[Failure]:
        """The files of a folder that could not be read; those of a collection are named as they are
        added.
        """
        return getattr(self._keywords, "failures", ())

    def search(self, query: str, k: int) -> list[SearchHit]:
        """Return the k best documents with enough of the query's words or a similar passage."""
        by_words = self._keywords.ranked(query, DEPTH)
        by_vectors = self.nearest(query, DEPTH)
        similar = {row for row, cosine in by_vectors if cosine >= MIN_SIMILARITY}
        relevant = by_words.relevant | similar
        fused = fuse(by_words.rows, [row for row, _ in by_vectors])
        return self._keywords.hits(query, [row for row in fused if row in relevant][:k])

    def nearest(self, query: str, depth: int) -> list[tuple[int, float]]:
        """Return documents with the cosine of their nearest passage, best first."""
        index = self._loaded_index()
        if not len(index):
            return []
        vectors = self._embedder.embed([query])
        best: dict[int, float] = {}
        for candidate in index.search(vectors, depth * PASSAGES, floor=-1.0):
            best.setdefault(candidate.chunk.start, candidate.similarity)
        return list(best.items())[:depth]

    def _loaded_index(self) -> Index:
        with self._loading:
            if self._index is None:
                vectors = self._load()
                self._index = Index(FLAT)
                self._index.add([Chunk("", row, row, "") for row in vectors.rows], vectors.matrix)
            return self._index


def local_embedder(settings: Settings) -> Embedder:
    """The embedder of folders and collections."""
    return EMBEDDERS.build(EMBEDDER, settings)


def over_folder(folder: FolderSearcher, settings: Settings, store: Store) -> HybridSearcher:
    """Hybrid search over a folder; its vectors are made at the first search and stored."""
    embedder = local_embedder(settings)

    def load() -> Vectors:
        rows: list[int] = []
        texts: list[str] = []
        for row, page in enumerate(folder.pages):
            page_passages = passages(page.title, page.text)
            rows += [row] * len(page_passages)
            texts += page_passages
        if len(texts) > MAX_FOLDER_PASSAGES:
            return Vectors.from_bytes([], [])
        return Vectors.from_bytes(rows, _stored_vectors(store, embedder, texts))

    return HybridSearcher(folder, embedder, load)


def over_collection(collection: str, settings: Settings, store: Store) -> HybridSearcher:
    """Hybrid search over a collection with the vectors it has. BadInput if there is no such
    collection.
    """
    embedder, documents = local_embedder(settings), DocumentStore(store.database)

    def load() -> Vectors:
        return Vectors.from_bytes(*documents.vectors(collection, embedder.version))

    return HybridSearcher(CollectionSearcher(documents, collection), embedder, load)


def _stored_vectors(store: Store, embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Return the vectors of texts, from the store or the model."""
    keys = [content_id(embedder.version, text) for text in texts]
    vectors = store.cache.vectors(keys)
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
    rows = embedder.embed(list(missing.values()))
    new = {key: row.tobytes() for key, row in zip(missing, rows, strict=True)}
    store.cache.put_vectors(new)
    vectors.update(new)
    return [vectors[key] for key in keys]
