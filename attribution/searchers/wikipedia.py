"""Wikipedia's full-text search, through the interface that every MediaWiki has."""

from __future__ import annotations

import re

from attribution.errors import SearchFailed
from attribution.searchers.json_api import Api, shortened
from attribution.settings import Settings, engine_address
from attribution.types import SearchHit

NAME, LABEL = "wikipedia", "Wikipedia"
VARIABLE = "ATTRIBUTION_WIKIPEDIA_URL"  # the api.php of another wiki
MAX_QUERY = 300
MAX_WORDS = 20
FIXED = {
    "action": "query",
    "format": "json",
    "formatversion": 2,
    "generator": "search",
    "prop": "info",
    "inprop": "url",
}
_OPERATORS = re.compile(r"[\"~*?!:(){}\[\]|\\/<>=^+]|(?<!\w)-")
_WORD = re.compile(r"[^\W_](?:[^\W_]|['’-](?=[^\W_]))*")


class Wikipedia:
    """Articles in `settings.search_language` with all of the query's words, or else with any of
    them.
    """

    name = NAME

    def __init__(self, settings: Settings) -> None:
        address = engine_address(
            VARIABLE, f"https://{settings.search_language}.wikipedia.org/w/api.php"
        )
        self._api = Api(NAME, LABEL, settings, address, FIXED)
        self.key = self._api.key

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k articles."""
        plain = shortened(_OPERATORS.sub(" ", query), MAX_QUERY)
        if not plain:
            return []
        words = list(filter(_is_telling, _WORD.findall(plain)))[:MAX_WORDS]
        hits = self._ask(plain, query, k)
        if hits or len(words) < 2:
            return hits
        return self._ask(" OR ".join(words), query, k)

    def _ask(self, text: str, query: str, k: int) -> list[SearchHit]:
        words = shortened(text, MAX_QUERY).removesuffix(" OR")
        reply = self._api.ask(query, {"gsrsearch": words, "gsrlimit": min(k, 50)})
        error = reply.get("error")
        if error:
            code = str(error.get("code", "") if isinstance(error, dict) else "")[:40]
            limited = code in ("ratelimited", "maxlag", "readonly")
            raise SearchFailed(
                "search_limited" if limited else "search_failed",
                f"{LABEL} does not answer this search ({code}): run again later or choose "
                "another engine",
                query,
            )
        found = self._api.rows(
            reply,
            query,
            "query.pages",
            none=reply.get("batchcomplete") is True and "query" not in reply,
        )
        pages = sorted(found, key=lambda page: _rank(page.get("index")))
        return self._api.hits(pages, "fullurl", "title", query, k)


def _is_telling(word: str) -> bool:
    return len(word) > 3 or word[0].isupper() or word.isdecimal()


def _rank(index: object) -> int:
    return index if isinstance(index, int) else 10**6
