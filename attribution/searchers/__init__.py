"""Query → search hits."""

from __future__ import annotations

from typing import Protocol

from attribution.registry import Entry
from attribution.types import SearchHit


class Searcher(Protocol):
    name: str

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k hits, best first, ranks from 1. Raises SearchFailed where the engine cannot be asked."""
        ...


SEARCHERS = {
    "library": Entry(
        "attribution.searchers.library:Library", "Library", "the articles in the library folder; works offline"
    ),
    "duckduckgo": Entry(
        "attribution.searchers.duckduckgo:DuckDuckGo",
        "Web (DuckDuckGo)",
        "sends the question and each claim to DuckDuckGo",
    ),
}
