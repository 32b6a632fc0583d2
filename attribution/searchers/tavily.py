"""Tavily's search interface."""

from __future__ import annotations

from attribution.searchers.json_api import Api, key, rows, shortened
from attribution.settings import Settings, engine_address
from attribution.types import SearchHit

NAME, LABEL = "tavily", "Tavily"
KEY, VARIABLE = "TAVILY_API_KEY", "ATTRIBUTION_TAVILY_URL"
MAX_QUERY = 400
MAX_RESULTS = 20  # of one request


class Tavily:
    """Only its addresses are used: pages are fetched here, as for every engine."""

    name = NAME

    def __init__(self, settings: Settings) -> None:
        self._api = Api(NAME, LABEL, settings)
        self._address = engine_address(VARIABLE, "https://api.tavily.com/search")
        self._headers = {"Authorization": f"Bearer {key(KEY, LABEL)}"}

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k web pages, and at most 20."""
        text = shortened(query, MAX_QUERY)
        if not text:
            return []
        parameters = {"query": text, "max_results": min(k, MAX_RESULTS), "search_depth": "basic"}
        results = rows(self._api.ask(self._address, query, parameters, self._headers, post=True), "results")
        return self._api.hits(((r.get("url"), r.get("title"), r.get("content")) for r in results), query, k)
