"""Google's Programmable Search Engine, through its JSON interface."""

from __future__ import annotations

from attribution.searchers.json_api import Api, key, rows, shortened
from attribution.settings import Settings, engine_address
from attribution.types import SearchHit

NAME, LABEL = "google_cse", "Google"
KEY, ENGINE, VARIABLE = "GOOGLE_CSE_KEY", "GOOGLE_CSE_ID", "ATTRIBUTION_GOOGLE_URL"
MAX_QUERY = 2_000
MOST = 10  # results that one question can ask for


class GoogleCSE:
    """The key goes into a header, so that it is in no address."""

    name = NAME

    def __init__(self, settings: Settings) -> None:
        self._api = Api(NAME, LABEL, settings)
        self._language = settings.search_language
        self._address = engine_address(VARIABLE, "https://www.googleapis.com/customsearch/v1")
        self._headers = {"X-Goog-Api-Key": key(KEY, LABEL)}
        self._engine = key(ENGINE, "the search engine")

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k web pages, ten of them at most."""
        asked = shortened(query, MAX_QUERY)
        if not asked:
            return []
        parameters = {"q": asked, "cx": self._engine, "num": min(k, MOST), "hl": self._language}
        found = rows(self._api.ask(self._address, query, parameters, self._headers), "items")
        return self._api.hits(((r.get("link"), r.get("title"), r.get("snippet")) for r in found), query, k)
