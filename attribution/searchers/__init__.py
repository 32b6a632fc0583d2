"""Query → search hits."""

from __future__ import annotations

from typing import Protocol

from attribution.tables import Entry, Need, Source, Table
from attribution.types import SearchHit


class Searcher(Protocol):
    """Finds pages for a query.

    A searcher of the web may also have `key`, see `key_of`; one of files `failures`, those of files
    that could not be read.
    """

    name: str

    def search(self, query: str, k: int) -> list[SearchHit]:
        """Return at most k hits, best first, with ranks from 1.

        Raises:
            SearchFailed: The engine cannot be searched.
        """
        ...


def key_of(searcher: Searcher) -> str:
    """Return all that hits depend on beside query and number: address, parameters and owner."""
    return str(getattr(searcher, "key", searcher.name))


def source_label(text: str) -> str:
    """Name a source of the settings in a sentence."""
    match Source.of(text):
        case Source("collection", name):
            return f"the collection “{name}”"
        case Source("library"):
            return "the built-in library"
        case Source("documents"):
            return "own documents"
        case Source("engine", name) if name in SEARCHERS:
            return SEARCHERS[name].label
        case _:
            return text


SEARCHERS: Table[Searcher] = Table(
    "searcher",
    {
        "library": Entry(
            "attribution.library.folder:FolderSearcher",
            "Library",
            "the shipped articles; works offline",
        ),
        "duckduckgo": Entry(
            "attribution.searchers.duckduckgo:DuckDuckGo",
            "Web (DuckDuckGo)",
            "sends the question and each claim to DuckDuckGo",
        ),
        "wikipedia": Entry(
            "attribution.searchers.engines:Wikipedia",
            "Wikipedia",
            "sends the question and each claim to Wikipedia",
        ),
        "searxng": Entry(
            "attribution.searchers.engines:SearXNG",
            "SearXNG",
            "sends the question and each claim to an instance, which passes them on to other "
            "engines",
            (
                Need(
                    "set ATTRIBUTION_SEARXNG_URL to one that allows the format json",
                    variable="ATTRIBUTION_SEARXNG_URL",
                ),
            ),
        ),
        "google_cse": Entry(
            "attribution.searchers.engines:GoogleCSE",
            "Google (Programmable Search)",
            "sends the question and each claim to Google",
            (
                Need("set GOOGLE_CSE_KEY to an API key", variable="GOOGLE_CSE_KEY"),
                Need("set GOOGLE_CSE_ID to your search engine's id", variable="GOOGLE_CSE_ID"),
            ),
        ),
        "brave": Entry(
            "attribution.searchers.engines:Brave",
            "Brave",
            "sends the question and each claim to Brave",
            (Need("set BRAVE_API_KEY to a subscription token", variable="BRAVE_API_KEY"),),
        ),
        "tavily": Entry(
            "attribution.searchers.engines:Tavily",
            "Tavily",
            "sends the question and each claim to Tavily",
            (Need("set TAVILY_API_KEY to an API key", variable="TAVILY_API_KEY"),),
        ),
    },
)
