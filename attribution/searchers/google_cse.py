"""Google's Programmable Search Engine, through its JSON interface."""

from __future__ import annotations

from attribution.searchers.json_api import Api, key, rows, shortened
from attribution.settings import Settings, engine_address
from attribution.types import SearchHit

NAME, LABEL = "google_cse", "Google"
KEY, ENGINE, VARIABLE = "GOOGLE_CSE_KEY", "GOOGLE_CSE_ID", "ATTRIBUTION_GOOGLE_URL"
MAX_QUERY = 2_000
MAX_RESULTS = 10  # of one request


class GoogleCSE:
    """Sends the key in a header, so that no address contains it."""

    name = NAME

    def __init__(self, settings: Settings) -> None:
        self._api = Api(NAME, LABEL, settings)
        self._language = settings.search_language
        self._address = engine_address(VARIABLE, "https://www.googleapis.com/customsearch/v1")
        self._headers = {"X-Goog-Api-Key": key(KEY, LABEL)}
        self._engine = key(ENGINE, "the search engine")

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k web pages, and at most 10."""
        text = shortened(query, MAX_QUERY)
        if not text:
            return []
        parameters = {"q": text, "cx": self._engine, "num": min(k, MAX_RESULTS), "hl": self._language}
        results = rows(self._api.ask(self._address, query, parameters, self._headers), "items")
        return self._api.hits(((r.get("link"), r.get("title"), r.get("snippet")) for r in results), query, k)
