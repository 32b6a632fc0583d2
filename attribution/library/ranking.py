"""Search a collection by the words that its documents share with a query (BM25)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from attribution.errors import BadInput, SearchFailed
from attribution.library.collection_store import DocumentStore
from attribution.library.folder import KeywordSearcher
from attribution.retrieval.bm25 import FullText
from attribution.settings import COLLECTION
from attribution.types import Page


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
