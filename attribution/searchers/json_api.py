"""Common code of engines with a JSON interface: one bounded request, retries, results as hits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar
from urllib.parse import urlencode

from attribution.errors import FetchFailed, SearchFailed, Unavailable
from attribution.fetching.page import one_line
from attribution.network import Allow, Clock, Request, Response, parsed, send
from attribution.retry import Transient, retry_after, retrying
from attribution.settings import Settings, secret
from attribution.text.urls import is_web
from attribution.types import SearchHit

# sent to clients that ask too often or have used up their plan
LIMITED = (202, 403, 418, 429, 432, 433)
MEANWHILE = "use the library or your own documents meanwhile"
RETRIES = 2
MAX_BYTES = 4_000_000
T = TypeVar("T")


class Limited(Transient):
    """A rate limit of the engine."""


def with_retries(label: str, query: str, seconds: float, ask: Callable[[float], T]) -> T:
    """Call `ask` with the seconds left, with retries.

    Raises:
        SearchFailed: search_limited or search_failed.
    """
    try:
        return retrying(ask, RETRIES, seconds)
    except Limited as error:
        message = (
            f"{label} limits searches for now ({error}; tried {error.tried}): "
            f"wait some minutes, or {MEANWHILE}"
        )
        raise SearchFailed("search_limited", message, query, detail=error.detail) from None
    except Transient as error:
        message = (
            f"{label} could not be searched ({error}; tried {error.tried}): "
            f"check the network, and {MEANWHILE}"
        )
        raise SearchFailed("search_failed", message, query, detail=error.detail) from None


class JsonEngine:
    """An engine that replies in JSON. Its address may be private if the operator of the server has
    set it.

    Attributes:
        name: Of the searcher.
        label: Of the engine, for messages.
    """

    name: str
    label: str

    def __init__(
        self,
        settings: Settings,
        address: str,
        fixed: Mapping[str, object],
        headers: Mapping[str, str] | None = None,
        allow: Allow = lambda _: True,
    ) -> None:
        """Set up an engine.

        Args:
            settings: Timeouts.
            address: Of the interface.
            fixed: Parameters of every request. They are part of `key`, so none is an API key.
            headers: Of every request.
            allow: Decides on each numeric address.
        """
        self._settings, self._allow = settings, allow
        self._address, self._fixed, self._headers = address, fixed, headers or {}
        self.key = json.dumps([self.name, address, sorted(fixed.items())])

    def ask(
        self, query: str, parameters: Mapping[str, object], post: bool = False
    ) -> dict[str, object]:
        """Return the reply's JSON object.

        Redirects are not followed: they could send a key to another host.

        Raises:
            SearchFailed: search_limited or search_failed.
            FetchFailed: bad_address, if the engine's is none.
        """
        parameters = {**parameters, **self._fixed}
        address, body = self._address, None
        headers = {"Accept": "application/json", **self._headers}
        if post:
            body = json.dumps(parameters).encode()
            headers["Content-Type"] = "application/json"
        else:
            address += f"{'&' if '?' in address else '?'}{urlencode(parameters)}"
        url = parsed(address)

        def attempt(left: float) -> dict[str, object]:
            clock = Clock(min(left, self._settings.read_timeout))
            try:
                request = Request(url, headers, MAX_BYTES, body=body)
                reply = send(request, self._settings, self._allow, clock)
            except FetchFailed as error:
                reason = "no reply in time" if error.kind == "timed_out" else str(error)
                raise Transient(reason, detail=error.detail) from None
            return self._object(reply, query)

        return with_retries(self.label, query, self._settings.page_timeout, attempt)

    def _object(self, reply: Response, query: str) -> dict[str, object]:
        wait = retry_after(reply.headers.get("retry-after", ""))
        if reply.status in LIMITED or (reply.status == 503 and wait):
            raise Limited(f"HTTP {reply.status}", wait)
        if reply.status == 401:
            raise SearchFailed(
                "search_failed",
                f"{self.label} does not accept the key (HTTP 401): check the key",
                query,
            )
        if reply.status != 200:
            raise Transient(f"HTTP {reply.status}")
        try:
            value = json.loads(reply.content)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Transient("its reply is not a JSON object")
        return value

    def hits(
        self,
        reply: Mapping[str, object],
        path: str,
        query: str,
        k: int,
        url: str = "url",
        none: bool = False,
    ) -> list[SearchHit]:
        """Return the first k results of a reply as hits, by their `index` if they have one.

        Args:
            reply: What the engine said.
            path: Of the list of results, such as `web.results`. Each has a title and an address.
            query: The query that they are hits of.
            k: The most hits.
            url: The name of the field with the address.
            none: The engine has said that it found nothing, so that the list may be missing.

        Raises:
            SearchFailed: The list is missing, or none of its results has an address.
        """
        value: object = reply
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value is None and none:
            return []
        items = value if isinstance(value, list) else []
        rows = [row for row in items if isinstance(row, dict)]
        rows.sort(key=lambda row: _rank(row.get("index")))
        results = [(row.get(url), row.get("title")) for row in rows]
        if value != [] and not any(isinstance(address, str) for address, _ in results):
            raise SearchFailed(
                "search_failed",
                f"the reply of {self.label} has no list “{path}” with addresses: run again later",
                query,
                detail=json.dumps(reply)[:200],
            )
        return as_hits(self.name, results, query, k)


def _rank(index: object) -> int:
    return index if isinstance(index, int) else 10**6


def as_hits(
    engine: str, rows: Iterable[tuple[object, object]], query: str, k: int
) -> list[SearchHit]:
    """Return the first k distinct web addresses of (address, title) rows, as hits."""
    titles: dict[str, str] = {}
    for url, title in rows:
        if isinstance(url, str) and is_web(url.strip()):
            titles.setdefault(url.strip(), one_line(str(title or "")))
    first = list(titles.items())[:k]
    return [
        SearchHit(url, title, rank, engine, query) for rank, (url, title) in enumerate(first, 1)
    ]


def key(variable: str, label: str) -> str:
    """Return a key for a header; no message shows it.

    Raises:
        Unavailable: It is missing or cannot be sent.
    """
    value = secret(variable).get_secret_value()
    if not value or not value.isascii() or not value.isprintable():
        problem = "contains characters that no key has" if value else "is not set"
        raise Unavailable(f"{variable} {problem}: set it to your key for {label}")
    return value


def shortened(query: str, limit: int) -> str:
    """Return the query on one line, cut between words to at most `limit` characters."""
    query = " ".join(query.split())
    if len(query) <= limit:
        return query
    return query[: limit + 1].rpartition(" ")[0] or query[:limit]
