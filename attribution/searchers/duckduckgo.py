"""Web search with DuckDuckGo, through the ddgs package; this engine alone, never another one in its
place.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from urllib.parse import parse_qs, urlsplit

import httpcore2
from ddgs.engines.duckduckgo import Duckduckgo
from ddgs.exceptions import DDGSException, TimeoutException
from lxml.etree import LxmlError

from attribution.network import Allow, CheckedBackend, Clock, is_public
from attribution.retry import Transient
from attribution.searchers.json_api import LIMITED, MAX_BYTES, Limited, as_hits, with_retries
from attribution.settings import Settings
from attribution.types import SearchHit

NAME = "duckduckgo"
MAX_QUERY = 300
GRACE = 1.0  # seconds that the proxy outlasts its client
_DECLARATION = re.compile(r"<\?xml[^<>]*>")  # lxml rejects text that declares an encoding
_CHALLENGE = re.compile(
    r"anomaly[-_.]?(?:modal|js)|challenge-form|bots use DuckDuckGo too", re.IGNORECASE
)
_NOTHING = re.compile(r"no-results?\b|no\s+(?:more\s+)?results", re.IGNORECASE)


def _request(query: str, timeout: float, proxy: str) -> list[tuple[str, str]]:
    """Address and title of each result; [] only where DuckDuckGo says that there is none.

    The engine's own `search` does not distinguish an error status from a page without results, so
    its parts are called.
    """
    engine = Duckduckgo(proxy, timeout)
    payload = engine.build_payload(
        query=query, region="us-en", safesearch="moderate", timelimit=None
    )
    response = engine.http_client.request(engine.search_method, engine.search_url, data=payload)
    if response.status_code in LIMITED:
        raise Limited(
            f"HTTP {response.status_code}"
        )  # ddgs passes on no headers, so no Retry-After
    if response.status_code != 200:
        raise Transient(f"HTTP {response.status_code}")
    page = _DECLARATION.sub("", str(response.text), count=1)
    try:
        results = engine.post_extract_results(engine.extract_results(page))
    except (LxmlError, ValueError) as error:  # not HTML
        raise Transient("its reply cannot be read", detail=repr(error)) from error
    if not results and _CHALLENGE.search(page):
        raise Limited("it shows a challenge for bots")
    if not results and not _NOTHING.search(page):
        raise Transient("its reply is not a page of results")
    return [(result.href, result.title) for result in results]


class DuckDuckGo:
    """Sends the query to DuckDuckGo; at most two more attempts, each after a longer pause.

    Its client, which looks like a browser, reaches the web through a proxy of ours alone.
    """

    name = NAME

    def __init__(self, settings: Settings) -> None:
        self._timeout, self._total = settings.read_timeout, settings.page_timeout

    def search(self, query: str, k: int) -> list[SearchHit]:
        """At most k web pages. SearchFailed: search_limited or search_failed."""
        query = " ".join(query.split())[:MAX_QUERY]
        results = ((_web_address(href), title) for href, title in self._ask(query))
        return as_hits(NAME, results, query, k)

    def _ask(self, query: str) -> list[tuple[str, str]]:
        def attempt(left: float) -> list[tuple[str, str]]:
            seconds = min(self._timeout, left)
            try:
                with tunnel(is_public, seconds + GRACE, MAX_BYTES) as proxy:
                    return _request(query, seconds, proxy)
            except TimeoutException:
                raise Transient("no reply in time") from None
            except DDGSException as error:  # a network error in the words of its client
                raise Transient("it cannot be reached", detail=error) from error

        return with_retries("DuckDuckGo", query, self._total, attempt)


def _web_address(href: str) -> str:
    """The address of a result, unwrapped from DuckDuckGo's own redirect; empty for a broken one."""
    try:
        query = urlsplit(href).query
    except ValueError:  # such as an unclosed [
        return ""
    return parse_qs(query).get("uddg", [href])[0]


# --- a proxy for its client, which opens its connections itself ---

_BLOCK = 65_536
_NAME = 3  # kind of address
_NO_PASSWORD = b"\x05\x00"
_OPENED = b"\x05\x00\x00\x01" + bytes(6)


class _Proxy(ThreadingTCPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """The client sees that its connection ends."""


@contextmanager
def tunnel(allow: Allow, seconds: float, limit: int) -> Iterator[str]:
    """Serve SOCKS 5 (RFC 1928) for clients that leave the resolving of names to the proxy.

    Args:
        allow: Decides on each numeric address.
        seconds: The time after which all connections end.
        limit: Bytes that either side of a connection may send.

    Yields:
        The address of the proxy.
    """
    clock = Clock(seconds)

    class _Tunnelled(StreamRequestHandler):
        timeout = seconds

        def handle(self) -> None:
            methods = self.rfile.read(2)[1]
            self.rfile.read(methods)
            self.wfile.write(_NO_PASSWORD)
            kind, length = self.rfile.read(5)[3:]
            if kind != _NAME:
                return
            host = self.rfile.read(length).decode("ascii")
            port = int.from_bytes(self.rfile.read(2), "big")
            with closing(CheckedBackend(allow, clock).connect_tcp(host, port)) as stream:
                self.wfile.write(_OPENED)
                sending = (self.connection.recv, stream.write, limit)
                threading.Thread(target=_copy, args=sending, daemon=True).start()
                _copy(stream.read, self.connection.sendall, limit)

    with _Proxy(("127.0.0.1", 0), _Tunnelled) as proxy:
        threading.Thread(target=proxy.serve_forever, args=[0.05], daemon=True).start()
        try:
            yield f"socks5h://127.0.0.1:{proxy.server_address[1]}"
        finally:
            proxy.shutdown()


def _copy(read: Callable[[int], bytes], write: Callable[[bytes], object], limit: int) -> None:
    """Pass on what one side sends, until one of them ends, or the time or the limit is reached."""
    with suppress(OSError, httpcore2.NetworkError, httpcore2.TimeoutException):
        while limit > 0:
            part = read(_BLOCK)
            if not part:
                return
            write(part)
            limit -= len(part)
