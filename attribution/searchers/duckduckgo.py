"""Web search with DuckDuckGo through the ddgs package; this engine alone, never another in its name."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ddgs.engines.duckduckgo import Duckduckgo
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

from attribution.extraction.page import one_line
from attribution.searchers.json_api import LIMITED, Refused, patiently
from attribution.settings import Settings
from attribution.types import SearchHit

NAME = "duckduckgo"
MAX_QUERY = 300
_DECLARATION = re.compile(r"\s*<\?xml[^>]*>")  # lxml takes no text that names its own encoding
_CHALLENGE = re.compile(r"anomaly[-_.]?(?:modal|js)|challenge-form|bots use DuckDuckGo too", re.IGNORECASE)
_NOTHING = re.compile(r"no-results?\b|no\s+(?:more\s+)?results", re.IGNORECASE)


def _ask_once(query: str, timeout: float) -> list[tuple[str, str, str]]:
    """Address, title and snippet of each result; [] only where DuckDuckGo says that there is none.

    The engine's own `search` takes an error status and a page without results for the same, so its parts are called.
    """
    seconds: Any = timeout  # declared as whole seconds, but handed on to a client that takes fractions
    engine = Duckduckgo(timeout=seconds)
    payload = engine.build_payload(query=query, region="us-en", safesearch="moderate", timelimit=None)
    response = engine.http_client.request(engine.search_method, engine.search_url, data=payload)
    if response.status_code in LIMITED:
        raise RatelimitException(f"HTTP {response.status_code}")  # ddgs hands on no headers: no Retry-After is known
    if response.status_code != 200:
        raise DDGSException(f"HTTP {response.status_code}")
    answer = _DECLARATION.sub("", str(response.text), count=1)
    try:
        results = engine.post_extract_results(engine.extract_results(answer))
    except Exception as error:  # what lxml says to an answer that is no HTML
        raise DDGSException(f"an answer that cannot be read, {type(error).__name__}") from error
    if not results and _CHALLENGE.search(answer):
        raise RatelimitException("a challenge for bots")
    if not results and not _NOTHING.search(answer):
        raise DDGSException("an answer that is no page of results")
    return [(result.href, result.title, result.body) for result in results]


class DuckDuckGo:
    """Sends the query to DuckDuckGo; at most two more tries, each after a longer pause."""

    name = NAME

    def __init__(self, settings: Settings, pause: float = 0.7) -> None:
        self._timeout = settings.read_timeout
        self._total = settings.page_timeout
        self._pause = pause

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k web pages. SearchFailed: search_limited where it refuses, search_failed where unreachable."""
        query = " ".join(query.split())[:MAX_QUERY]
        if not query:
            return []
        found: dict[str, tuple[str, str]] = {}
        for href, title, snippet in self._ask(query):
            if url := _web_address(href):
                found.setdefault(url, (one_line(title), one_line(snippet)))
        best = list(found.items())[:k]
        return [
            SearchHit(url, title, rank, NAME, query, snippet) for rank, (url, (title, snippet)) in enumerate(best, 1)
        ]

    def _ask(self, query: str) -> list[tuple[str, str, str]]:
        def once(left: float) -> list[tuple[str, str, str]]:
            try:
                return _ask_once(query, min(self._timeout, left))
            except RatelimitException as error:
                raise Refused(str(error), limited=True) from None
            except TimeoutException:
                raise Refused("no answer in time") from None
            except DDGSException as error:
                raise Refused(str(error)[:200]) from None

        return patiently("DuckDuckGo", query, self._total, once, self._pause)


def _web_address(href: str) -> str:
    """The http(s) address of a result, taken out of DuckDuckGo's own redirect; empty where there is none."""
    try:
        parts = urlsplit("https:" + href if href.startswith("//") else href)
        host = parts.hostname or ""
        if (host == "duckduckgo.com" or host.endswith(".duckduckgo.com")) and parts.path.startswith("/l/"):
            href = parse_qs(parts.query).get("uddg", [""])[0]
            parts = urlsplit(href)
        return href if parts.scheme in ("http", "https") and parts.hostname else ""
    except ValueError:  # such as an unclosed [
        return ""
