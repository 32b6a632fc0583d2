"""Full-text search over a collection that is kept in the store."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.collections.store import DocumentStore
from attribution.errors import BadInput, SearchFailed
from attribution.extraction.page import one_line
from attribution.retrieval.bm25 import Ranked, Table, ranked, snippet
from attribution.settings import COLLECTION
from attribution.types import SearchHit


class Collection:
    """The documents of one collection, as they are when it is searched."""

    def __init__(self, store: DocumentStore, collection: str) -> None:
        """BadInput names the collections there are where it is not one of them."""
        self.name = f"{COLLECTION}{collection}"
        self._store, self._collection = store, collection
        with store.full_text(collection):
            pass

    def search(self, query: str, k: int) -> list[SearchHit]:
        """The k best documents that say enough of what the query asks; none where nothing is known of it."""
        found = self.ranked(query, max(k, 100))
        return self.hits(query, [row for row in found.rows if row in found.relevant][:k])

    def ranked(self, query: str, depth: int) -> Ranked:
        """The documents by BM25, by their ids."""
        try:
            with self._store.full_text(self._collection) as (database, table, count):
                return ranked(Table(database, table, count), query, depth)
        except BadInput as error:  # removed since the run began
            raise SearchFailed("search_failed", str(error), self.name) from error

    def hits(self, query: str, rows: Sequence[int]) -> list[SearchHit]:
        """What is known of these documents, in this order; those removed meanwhile are left out."""
        pages = self._store.pages(rows)
        here = [row for row in rows if row in pages]
        with self._store.full_text(self._collection) as (database, table, count):
            snippets = [snippet(Table(database, table, count), query, row) for row in here]
        return [
            SearchHit(page.url, page.title, rank, self.name, query, one_line(words or page.text[:200]), page)
            for rank, (page, words) in enumerate(zip((pages[row] for row in here), snippets, strict=True), 1)
        ]
