"""Tavily's search interface."""

from __future__ import annotations

from attribution.searchers.json_api import Api, key, shortened
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
        address = engine_address(VARIABLE, "https://api.tavily.com/search")
        headers = {"Authorization": f"Bearer {key(KEY, LABEL)}"}
        self._api = Api(NAME, LABEL, settings, address, {"search_depth": "basic"}, headers)
        self.key = self._api.key

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k web pages, and at most 20."""
        text = shortened(query, MAX_QUERY)
        if not text:
            return []
        reply = self._api.ask(query, {"query": text, "max_results": min(k, MAX_RESULTS)}, post=True)
        return self._api.hits(self._api.rows(reply, query, "results"), "url", "title", query, k)
