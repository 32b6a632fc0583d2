"""Any SearXNG instance that answers in JSON. The environment's may be one of your own, on a private address."""

from __future__ import annotations

from attribution.errors import SearchFailed, Unavailable
from attribution.searchers.json_api import Api, rows, shortened
from attribution.settings import Settings, engine_address
from attribution.text.urls import site
from attribution.types import SearchHit
from attribution.web.network import is_public

NAME, LABEL = "searxng", "SearXNG"
VARIABLE = "ATTRIBUTION_SEARXNG_URL"
STEP = f"set {VARIABLE} to the address of an instance whose settings allow the format json"
MAX_QUERY = 400


class SearXNG:
    """What the instance's own engines find."""

    def __init__(self, settings: Settings, address: str = "") -> None:
        """The environment's instance, or the one at that address: then on the public web, for anybody may name it."""
        self._address = (address or engine_address(VARIABLE)).rstrip("/")
        if not self._address:
            raise Unavailable(f"no SearXNG instance is named: {STEP}")
        host = site(self._address)
        self.name = f"{NAME} at {host}" if address else NAME
        label = f"{LABEL} at {host}" if address else LABEL
        self._api = Api(self.name, label, settings, is_public if address else lambda _: True)
        self._language = settings.search_language
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
