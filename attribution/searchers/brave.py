"""Brave's web search interface."""

from __future__ import annotations

import html

from attribution.searchers.json_api import Api, key, rows, shortened
from attribution.settings import Settings, engine_address
from attribution.types import SearchHit

NAME, LABEL = "brave", "Brave"
KEY, VARIABLE = "BRAVE_API_KEY", "ATTRIBUTION_BRAVE_URL"
MAX_QUERY, MAX_WORDS = 400, 50
MAX_RESULTS = 20  # of one request


class Brave:
    """Titles and snippets come as HTML with <strong>, which is removed."""

    name = NAME

    def __init__(self, settings: Settings) -> None:
        self._api = Api(NAME, LABEL, settings)
        self._language = settings.search_language.partition("-")[0]
        self._address = engine_address(VARIABLE, "https://api.search.brave.com/res/v1/web/search")
        self._headers = {"X-Subscription-Token": key(KEY, LABEL)}

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k web pages, and at most 20."""
        text = shortened(" ".join(query.split()[:MAX_WORDS]), MAX_QUERY)
        if not text:
            return []
        parameters = {"q": text, "count": min(k, MAX_RESULTS), "search_lang": self._language}
        results = rows(self._api.ask(self._address, query, parameters, self._headers), "web", "results")
        plain = ((r.get("url"), _plain(r.get("title")), _plain(r.get("description"))) for r in results)
        return self._api.hits(plain, query, k)


def _plain(text: object) -> str:
    return html.unescape(str(text or "").replace("<strong>", "").replace("</strong>", ""))
