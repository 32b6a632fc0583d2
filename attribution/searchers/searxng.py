"""Any SearXNG instance that answers in JSON; it may be one of your own, on a private address."""

from __future__ import annotations

from attribution.errors import SearchFailed, Unavailable
from attribution.searchers.api import Api, rows, shortened
from attribution.settings import Settings, engine_address
from attribution.types import SearchHit

NAME, LABEL = "searxng", "SearXNG"
VARIABLE = "ATTRIBUTION_SEARXNG_URL"
STEP = f"set {VARIABLE} to the address of an instance whose settings allow the format json"
MAX_QUERY = 400


class SearXNG:
    """What the instance's own engines find."""

    name = NAME

    def __init__(self, settings: Settings) -> None:
        self._api = Api(NAME, LABEL, settings)
        self._language = settings.search_language
        self._address = engine_address(VARIABLE).rstrip("/")
        if not self._address:
            raise Unavailable(f"no SearXNG instance is named: {STEP}")
        if not self._address.endswith("/search"):
            self._address += "/search"

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k web pages; SearchFailed where the instance found nothing because its engines did not answer."""
        asked = shortened(query, MAX_QUERY)
        if not asked:
            return []
        found = self._api.ask(self._address, query, {"q": asked, "format": "json", "language": self._language})
        results = rows(found, "results")
        if not results and found.get("unresponsive_engines"):
            raise SearchFailed(
                "search_failed",
                "none of the engines that this SearXNG instance asks has answered; run again later",
                query,
            )
        return self._api.hits(((r.get("url"), r.get("title"), r.get("content")) for r in results), query, k)
