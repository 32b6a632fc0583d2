"""Google's Programmable Search Engine, through its JSON interface."""

from __future__ import annotations

from attribution.searchers.json_api import Api, key, shortened
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
        address = engine_address(VARIABLE, "https://www.googleapis.com/customsearch/v1")
        fixed = {"cx": key(ENGINE, "the search engine"), "hl": settings.search_language}
        self._api = Api(NAME, LABEL, settings, address, fixed, {"X-Goog-Api-Key": key(KEY, LABEL)})
        self.key = self._api.key

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k web pages, and at most 10."""
        text = shortened(query, MAX_QUERY)
        if not text:
            return []
        reply = self._api.ask(query, {"q": text, "num": min(k, MAX_RESULTS)})
        about = reply.get("searchInformation")
        none = isinstance(about, dict) and about.get("totalResults") == "0"
        return self._api.hits(
            self._api.rows(reply, query, "items", none), "link", "title", query, k
        )
