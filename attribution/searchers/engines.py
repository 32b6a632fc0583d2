"""Search engines whose interface is JSON: Brave, Google, SearXNG, Tavily, and any MediaWiki."""

from __future__ import annotations

import re

from attribution.errors import SearchFailed
from attribution.network import is_public
from attribution.searchers.json_api import JsonEngine, key, shortened
from attribution.settings import Settings, engine_address
from attribution.text.urls import site
from attribution.types import SearchHit

MAX_QUERY = 400  # characters
MAX_WORDS = 50  # of Brave's queries
MAX_RESULTS = 20  # of one request
MAX_GOOGLE = 10  # results of one request


class Brave(JsonEngine):
    name, label = "brave", "Brave"

    def __init__(self, settings: Settings) -> None:
        address = "https://api.search.brave.com/res/v1/web/search"
        language = settings.search_language.partition("-")[0]
        super().__init__(
            settings,
            engine_address("ATTRIBUTION_BRAVE_URL", address),
            {"search_lang": language, "text_decorations": "false"},
            {"X-Subscription-Token": key("BRAVE_API_KEY", "Brave")},
        )

    def search(self, query: str, k: int) -> list[SearchHit]:
        """Return at most k web pages, and at most 20."""
        text = shortened(" ".join(query.split()[:MAX_WORDS]), MAX_QUERY)
        reply = self.ask(query, {"q": text, "count": min(k, MAX_RESULTS)})
        none = reply.get("type") == "search" and "web" not in reply and "error" not in reply
        return self.hits(reply, "web.results", query, k, none=none)


class GoogleCSE(JsonEngine):
    """Sends the key in a header, so that no address contains it."""

    name, label = "google_cse", "Google"

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            settings,
            engine_address("ATTRIBUTION_GOOGLE_URL", "https://www.googleapis.com/customsearch/v1"),
            {"cx": key("GOOGLE_CSE_ID", "the search engine"), "hl": settings.search_language},
            {"X-Goog-Api-Key": key("GOOGLE_CSE_KEY", "Google")},
        )

    def search(self, query: str, k: int) -> list[SearchHit]:
        """Return at most k web pages, and at most 10."""
        text = shortened(query, MAX_QUERY)
        reply = self.ask(query, {"q": text, "num": min(k, MAX_GOOGLE)})
        about = reply.get("searchInformation")
        none = isinstance(about, dict) and about.get("totalResults") == "0"
        return self.hits(reply, "items", query, k, "link", none)


class Tavily(JsonEngine):
    """Only its addresses are used: pages are fetched here, as for every engine."""

    name, label = "tavily", "Tavily"

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            settings,
            engine_address("ATTRIBUTION_TAVILY_URL", "https://api.tavily.com/search"),
            {"search_depth": "basic"},
            {"Authorization": f"Bearer {key('TAVILY_API_KEY', 'Tavily')}"},
        )

    def search(self, query: str, k: int) -> list[SearchHit]:
        """Return at most k web pages, and at most 20."""
        text = shortened(query, MAX_QUERY)
        reply = self.ask(query, {"query": text, "max_results": min(k, MAX_RESULTS)}, post=True)
        return self.hits(reply, "results", query, k)


class SearXNG(JsonEngine):
    """Asks the engines of one SearXNG instance; the environment's may have a private address."""

    def __init__(self, settings: Settings, address: str = "", owner: str = "") -> None:
        """Use the environment's instance, or one at an address that any user may enter, and so a
        public one.

        What such an instance has found is for its `owner` alone.
        """
        used = (address or engine_address("ATTRIBUTION_SEARXNG_URL")).rstrip("/")
        used += "" if used.endswith("/search") else "/search"
        host = f" at {site(used)}" if address else ""
        self.name, self.label = f"searxng{host}", f"SearXNG{host}"
        fixed = {"format": "json", "language": settings.search_language}
        super().__init__(settings, used, fixed, allow=is_public if address else lambda _: True)
        if address:
            self.key += f" {owner}"

    def search(self, query: str, k: int) -> list[SearchHit]:
        """Return at most k web pages.

        Raises:
            SearchFailed: Nothing was found because engines did not reply.
        """
        reply = self.ask(query, {"q": shortened(query, MAX_QUERY)})
        hits = self.hits(reply, "results", query, k)
        if not hits and reply.get("unresponsive_engines"):
            raise SearchFailed(
                "search_failed",
                "none of this SearXNG instance's engines has replied: run again later",
                query,
            )
        return hits


# --- Wikipedia ---


WIKI_QUERY = 300  # characters
WIKI_WORDS = 20
WIKI_PARAMETERS = {
    "action": "query",
    "format": "json",
    "formatversion": 2,
    "generator": "search",
    "prop": "info",
    "inprop": "url",
}
_OPERATORS = re.compile(r"[\"~*?!:(){}\[\]|\\/<>=^+]|(?<!\w)-")
_WORD = re.compile(r"[^\W_](?:[^\W_]|['’-](?=[^\W_]))*")


class Wikipedia(JsonEngine):
    """Articles in `settings.search_language` with all of the query's words, or else with any of
    them.
    """

    name, label = "wikipedia", "Wikipedia"

    def __init__(self, settings: Settings) -> None:
        address = engine_address(
            "ATTRIBUTION_WIKIPEDIA_URL",
            f"https://{settings.search_language}.wikipedia.org/w/api.php",
        )
        super().__init__(settings, address, WIKI_PARAMETERS)

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k articles."""
        plain = shortened(_OPERATORS.sub(" ", query), WIKI_QUERY)
        if not plain:
            return []
        telling = [
            word
            for word in _WORD.findall(plain)
            if len(word) > 3 or word[0].isupper() or word.isdecimal()
        ]
        words = telling[:WIKI_WORDS]
        hits = self._ask(plain, query, k)
        if hits or len(words) < 2:
            return hits
        return self._ask(" OR ".join(words), query, k)

    def _ask(self, text: str, query: str, k: int) -> list[SearchHit]:
        words = shortened(text, WIKI_QUERY).removesuffix(" OR")
        reply = self.ask(query, {"gsrsearch": words, "gsrlimit": min(k, 50)})
        error = reply.get("error")
        if error:
            code = str(error.get("code", "") if isinstance(error, dict) else "")[:40]
            limited = code in ("ratelimited", "maxlag", "readonly")
            raise SearchFailed(
                "search_limited" if limited else "search_failed",
                f"Wikipedia does not answer this search ({code}): run again later or choose "
                "another engine",
                query,
            )
        none = reply.get("batchcomplete") is True and "query" not in reply
        return self.hits(reply, "query.pages", query, k, "fullurl", none)
