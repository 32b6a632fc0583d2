"""Search with a SearXNG instance that replies in JSON. The environment's instance may have a
private address.
"""

from __future__ import annotations

from attribution.errors import SearchFailed, Unavailable
from attribution.fetching.network import is_public
from attribution.searchers.json_api import Api, shortened
from attribution.settings import Settings, engine_address
from attribution.text.urls import site
from attribution.types import SearchHit

NAME, LABEL = "searxng", "SearXNG"
VARIABLE = "ATTRIBUTION_SEARXNG_URL"
MAX_QUERY = 400


class SearXNG:
    """A searcher that asks the engines of one SearXNG instance."""

    def __init__(self, settings: Settings, address: str = "", owner: str = "") -> None:
        """Use the environment's instance, or one at an address that any user may enter, and so a
        public one.

        What such an instance has found is for its `owner` alone.
        """
        used = (address or engine_address(VARIABLE)).rstrip("/")
        if not used:
            raise Unavailable(
                f"no SearXNG instance is set: set {VARIABLE} to the address of one that allows "
                "the format json"
            )
        host = site(used)
        self.name = f"{NAME} at {host}" if address else NAME
        label = f"{LABEL} at {host}" if address else LABEL
        used += "" if used.endswith("/search") else "/search"
        fixed = {"format": "json", "language": settings.search_language}
        self._api = Api(
            self.name, label, settings, used, fixed, allow=is_public if address else lambda _: True
        )
        self.key = f"{self._api.key} {owner}" if address else self._api.key

    def search(self, query: str, k: int) -> list[SearchHit]:
        """Return at most k web pages. Raises SearchFailed if nothing was found because engines did
        not reply.
        """
        text = shortened(query, MAX_QUERY)
        if not text:
            return []
        reply = self._api.ask(query, {"q": text})
        results = self._api.rows(reply, query, "results")
        if not results and reply.get("unresponsive_engines"):
            raise SearchFailed(
                "search_failed",
                "none of this SearXNG instance's engines has replied: run again later",
                query,
            )
        return self._api.hits(results, "url", "title", query, k)
