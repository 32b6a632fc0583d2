"""Find documents by the words they share with a query: folders and collections alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from attribution.retrieval.bm25 import FullText, Ranked, ranked
from attribution.types import Page, SearchHit

DEPTH = 100  # documents that are ranked


class KeywordSearcher(ABC):
    """Finds documents by the words they share with a query."""

    name: str

    @abstractmethod
    def full_text(self) -> AbstractContextManager[FullText]:
        """The full-text index, for one thread at a time."""

    @abstractmethod
    def documents(self, rows: Sequence[int]) -> Mapping[int, Page]:
        """Documents by row; those removed meanwhile are left out."""

    def search(self, query: str, k: int) -> list[SearchHit]:
        """The k best documents that share enough of the query's words; often none."""
        ranking = self.ranked(query, max(k, DEPTH))
        return self.hits(query, [row for row in ranking.rows if row in ranking.relevant][:k])

    def ranked(self, query: str, depth: int) -> Ranked:
        """The rows of the best documents by BM25."""
        with self.full_text() as table:
            return ranked(table, query, depth)

    def hits(self, query: str, rows: Sequence[int]) -> list[SearchHit]:
        """The search hits for these rows, in this order."""
        documents = self.documents(rows)
        pages = (documents[row] for row in rows if row in documents)
        return [
            SearchHit(page.url, page.title, rank, self.name, query, page)
            for rank, page in enumerate(pages, 1)
        ]
