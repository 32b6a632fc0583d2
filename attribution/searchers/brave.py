"""Brave's web search interface."""

from __future__ import annotations

import html

from attribution.searchers.json_api import Api, key, shortened
from attribution.settings import Settings, engine_address
from attribution.types import SearchHit

NAME, LABEL = "brave", "Brave"
KEY, VARIABLE = "BRAVE_API_KEY", "ATTRIBUTION_BRAVE_URL"
MAX_QUERY, MAX_WORDS = 400, 50
MAX_RESULTS = 20  # of one request


class Brave:
    """Titles come as HTML with <strong>, which is removed."""

    name = NAME

    def __init__(self, settings: Settings) -> None:
        address = engine_address(VARIABLE, "https://api.search.brave.com/res/v1/web/search")
        fixed = {"search_lang": settings.search_language.partition("-")[0]}
        self._api = Api(
            NAME, LABEL, settings, address, fixed, {"X-Subscription-Token": key(KEY, LABEL)}
        )
        self.key = self._api.key

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k web pages, and at most 20."""
        text = shortened(" ".join(query.split()[:MAX_WORDS]), MAX_QUERY)
        if not text:
            return []
        reply = self._api.ask(query, {"q": text, "count": min(k, MAX_RESULTS)})
        none = reply.get("type") == "search" and "web" not in reply and "error" not in reply
        results = self._api.rows(reply, query, "web.results", none)
        plain = [r | {"title": _plain(r.get("title"))} for r in results]
        return self._api.hits(plain, "url", "title", query, k)


def _plain(text: object) -> str:
    return html.unescape(str(text or "").replace("<strong>", "").replace("</strong>", ""))
