"""What the engines with an interface share: one bounded question, patience with limits, results told as hits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from attribution.errors import FetchFailed, SearchFailed, Unavailable
from attribution.extraction.page import one_line
from attribution.settings import Settings, secret
from attribution.types import SearchHit
from attribution.web.http import Reply, parsed, send
from attribution.web.network import Allow, Clock

LIMITED = (202, 403, 418, 429, 432, 433)  # what engines answer to those who ask too often or have used up their plan
MEANWHILE = "use the library or your own documents meanwhile"
RETRIES = 2
MAX_BYTES = 4_000_000
_T = TypeVar("_T")


class Refused(Exception):
    """A try that did not work: whether the engine limits its users, and the seconds it asks to wait."""

    def __init__(self, reason: str, limited: bool = False, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.limited, self.wait = limited, wait


def patiently(label: str, query: str, seconds: float, ask: Callable[[float], _T], pause: float = 0.7) -> _T:
    """Ask at most three times within so many seconds, each pause twice the last or as long as the engine wishes.

    `ask` gets the seconds left. Raises SearchFailed: search_limited or search_failed.
    """
    end = time.monotonic() + seconds
    tries = 0
    while True:
        tries += 1
        try:
            return ask(max(0.05, end - time.monotonic()))
        except Refused as error:
            wait = max(pause * 2 ** (tries - 1), error.wait)
            if tries <= RETRIES and end - time.monotonic() > wait:
                time.sleep(wait)
                continue
            times = "once" if tries == 1 else f"{tries} times"
            if error.limited:
                message = f"{label} refuses more searches for now ({error}, asked {times}); wait some minutes or "
                raise SearchFailed("search_limited", message + MEANWHILE, query) from None
            message = f"{label} could not be asked ({error}; tried {times}); check the network, and {MEANWHILE}"
            raise SearchFailed("search_failed", message, query) from None


class Api:
    """An engine that answers in JSON. It may lie on a private address where whoever runs this has named it."""

    def __init__(self, name: str, label: str, settings: Settings, allow: Allow = lambda _: True) -> None:
        self.name, self.label, self._settings, self._allow = name, label, settings, allow
        self.pause = 0.7  # seconds before the second try

    def ask(
        self,
        address: str,
        query: str,
        parameters: Mapping[str, object],
        headers: Mapping[str, str] | None = None,
        post: bool = False,
    ) -> dict[str, Any]:
        """The reply's object. Redirects are not followed: they could carry a key elsewhere."""
        body = json.dumps(parameters).encode() if post else None
        try:
            url = parsed(address if post else f"{address}{'&' if '?' in address else '?'}{urlencode(parameters)}")
        except FetchFailed as error:
            raise SearchFailed("search_failed", f"the address of {self.label}: {error}", query) from None
        sent = {
            "Accept": "application/json",
            **({"Content-Type": "application/json"} if post else {}),
            **(headers or {}),
        }

        def once(left: float) -> dict[str, Any]:
            clock = Clock(min(left, self._settings.read_timeout))
            try:
                reply = send(url, self._settings, self._allow, clock, headers=sent, limit=MAX_BYTES, body=body)
            except FetchFailed as error:
                raise Refused("no answer in time" if error.kind == "timed_out" else str(error)) from None
            return self._object(reply)

        return patiently(self.label, query, self._settings.page_timeout, once, self.pause)

    def _object(self, reply: Reply) -> dict[str, Any]:
        wait = seconds_to_wait(reply.headers.get("retry-after", ""))
        if reply.status in LIMITED or (reply.status == 503 and wait):
            raise Refused(f"HTTP {reply.status}", limited=True, wait=wait)
        if reply.status == 401:
            raise Refused("HTTP 401, it does not accept the key")
        if reply.status != 200:
            raise Refused(f"HTTP {reply.status}")
        try:
            found = json.loads(reply.content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Refused("an answer that is no JSON object")
        return found

    def hits(self, rows: Iterable[tuple[object, object, object]], query: str, k: int) -> list[SearchHit]:
        """The first k different web addresses of (address, title, snippet), as hits."""
        found: dict[str, tuple[str, str]] = {}
        for url, title, snippet in rows:
            if isinstance(url, str) and url.lower().startswith(("http://", "https://")):
                found.setdefault(url.strip(), (one_line(str(title or "")), one_line(str(snippet or ""))))
        return [
            SearchHit(url, title, rank, self.name, query, snippet)
            for rank, (url, (title, snippet)) in enumerate(list(found.items())[:k], 1)
        ]


def rows(found: Mapping[str, Any], *path: str) -> list[dict[str, Any]]:
    """The list of objects below those names; empty where the engine left it out, as they do for no results."""
    value: Any = found
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def key(variable: str, label: str) -> str:
    """A key for a header; Unavailable where it is missing or cannot be sent. It appears in no message."""
    value = secret(variable).get_secret_value()
    if not value or not value.isascii() or not value.isprintable():
        found = "holds characters that no key has" if value else "is not set"
        raise Unavailable(f"{variable} {found}: set it to your key for {label}")
    return value


def shortened(query: str, limit: int) -> str:
    """On one line, of at most so many characters, cut between words."""
    query = " ".join(query.split())
    return query if len(query) <= limit else query[: limit + 1].rpartition(" ")[0] or query[:limit]


def seconds_to_wait(retry_after: str) -> float:
    """Retry-After as seconds from now (RFC 9110, 10.2.3); 0 where it says nothing."""
    text = retry_after.strip()
    if text.isdecimal() and text.isascii():
        return min(float(text[:9]), 1e9)
    try:
        when = parsedate_to_datetime(text)
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0
