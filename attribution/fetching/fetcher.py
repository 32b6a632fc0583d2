"""URL → Page: public addresses only, polite per host, bounded in time, size and redirects."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2
from protego import Protego

from attribution.errors import FetchFailed
from attribution.fetching.content_type import check_declared
from attribution.fetching.page import make_page
from attribution.fetching.sandbox import RUN_SECONDS, FileReader, warm
from attribution.network import (
    AGENT,
    AS_DOCUMENT,
    HOST_CONNECTIONS,
    REDIRECTS,
    Allow,
    Clock,
    Request,
    Response,
    host_of,
    is_public,
    parsed,
    send,
)
from attribution.settings import Settings
from attribution.types import FailureKind, Page

MAX_REDIRECTS = 5
ROBOTS_SECONDS = 5.0  # for a host's robots.txt
MAX_CRAWL_DELAY = 5.0  # seconds: the longest pause that a host can demand
MAX_RULES = 512_000  # bytes; RFC 9309, 2.5: at least 500 kibibytes are read, the rest is ignored
ACCEPT = (
    "text/html, application/xhtml+xml, application/pdf, text/markdown, text/plain;q=0.9, */*;q=0.1"
)


_ADVICE = {
    402: f"it requires payment; {AS_DOCUMENT} instead",
    403: f"it denies access; {AS_DOCUMENT} instead",
    404: "the page does not exist; check the address",
    410: f"the page was removed; {AS_DOCUMENT} instead",
    429: f"it limits requests; wait some minutes and run again, or {AS_DOCUMENT}",
}
_KINDS: dict[int, FailureKind] = {402: "paywall", 429: "rate_limited"}  # others: http_error
_RUN_AGAIN = "run again later or use another address of the page"


class Fetcher:
    """Fetches the pages of one run.

    They share each host's rules and turns; reading them takes turns with other runs.

    Args:
        settings: Timeouts and limits.
        allow: Decides on each numeric address before a connection is opened.
        reading: The run's reading of files.
    """

    def __init__(
        self, settings: Settings, allow: Allow = is_public, reading: FileReader | None = None
    ) -> None:
        self._settings, self._allow = settings, allow
        self._reading = reading or FileReader("", RUN_SECONDS)
        self._hosts: dict[tuple[str, bytes], _Host] = {}
        self._lock = threading.Lock()

    def fetch(self, url: str) -> Page:
        """Return the page at a URL; where redirects led elsewhere, with the final `reference`.

        Raises:
            FetchFailed: With the requested URL as subject.
        """
        try:
            warm()
            target = parsed(url)
            clock = Clock(self._settings.page_timeout)
            response = _follow(target, lambda address: self._request(address, clock))
            _check_status(response)
            address = str(response.url)
            media_type = response.headers.get("content-type", "")
            seconds = max(0.1, clock.left())
            extracted = self._reading.read(response.content, media_type, address, seconds)
            return make_page(url, "web", extracted, "" if response.url == target else address)
        except FetchFailed as error:
            error.subject = url
            raise

    def _request(self, target: httpx2.URL, clock: Clock) -> Response:
        host = host_of(target)
        request = Request(
            target,
            {"Accept": ACCEPT},
            self._settings.page_bytes,
            check=lambda headers: check_declared(headers.get("content-type", ""), host),
        )
        with self._lock:
            turns = self._hosts.setdefault((target.scheme, target.netloc), _Host())
        with turns.turn(target, self._settings, self._allow):
            return send(request, self._settings, self._allow, clock)


class _Host:
    """The rules of one host, read once, and the turns of requests to it."""

    def __init__(self) -> None:
        self._connections = threading.BoundedSemaphore(HOST_CONNECTIONS)
        self._rules_lock = threading.Lock()
        self._turn_lock = threading.Lock()
        self._rules: Protego | FetchFailed | None = None
        self._next_turn = 0.0

    @contextmanager
    def turn(self, url: httpx2.URL, settings: Settings, allow: Allow) -> Iterator[None]:
        """Wait until the page may be requested.

        Raises:
            FetchFailed: It may not be requested.
        """
        with self._rules_lock:
            if self._rules is None:
                self._rules = read_rules(url, settings, allow)
        rules = self._rules
        if isinstance(rules, FetchFailed):
            raise FetchFailed(rules.kind, str(rules), detail=rules.detail)
        if not rules.can_fetch(str(url), AGENT):
            message = (
                f"the robots.txt of {host_of(url)} does not allow programs to read this page; "
                "open it in a browser and add its text as a document"
            )
            raise FetchFailed("robots", message)
        with self._connections:
            with self._turn_lock:
                start = max(self._next_turn, time.monotonic())
                pause = min(rules.crawl_delay(AGENT) or 0.0, MAX_CRAWL_DELAY)
                self._next_turn = start + pause
            time.sleep(max(0.0, start - time.monotonic()))
            yield


def _follow(target: httpx2.URL, request: Callable[[httpx2.URL], Response]) -> Response:
    """Return the response that redirects end in.

    Raises:
        FetchFailed: redirect_loop.
    """
    for _ in range(MAX_REDIRECTS + 1):
        response = request(target)
        location = response.headers.get("location")
        if response.status not in REDIRECTS or not location:
            return response
        target = parsed(location, base=target)
    message = (
        f"more than {MAX_REDIRECTS} redirects, last to {host_of(target)}; "
        "open the page in a browser and use its final address"
    )
    raise FetchFailed("redirect_loop", message)


def _check_status(reply: Response) -> None:
    """Raise FetchFailed with advice unless the reply is a page."""
    if 200 <= reply.status < 300:
        return
    kind = "server_error" if reply.status >= 500 else _KINDS.get(reply.status, "http_error")
    advice = _ADVICE.get(reply.status, _RUN_AGAIN)
    message = f"{host_of(reply.url)} answered with HTTP {reply.status}: {advice}"
    raise FetchFailed(kind, message, status=reply.status)


# --- robots.txt ---

# Otherwise a file of many names times many rules could fill the memory
_OTHER_AGENT = re.compile(
    rf"^user[- ]?agent ?+:?+ ?+(?!(?:\*|{AGENT}) ?(?:#|$)).*", re.IGNORECASE | re.MULTILINE
)


def read_rules(url: httpx2.URL, settings: Settings, allow: Allow) -> Protego | FetchFailed:
    """Return the rules of a URL's host, or why none of its pages may be requested.

    RFC 9309, 2.3.1: a missing robots.txt (4xx) allows everything; one that cannot be fetched (5xx,
    no response) forbids everything. A host that cannot be reached at all keeps that failure's kind.
    """
    clock = Clock(ROBOTS_SECONDS)
    headers = {"Accept": "text/plain, */*;q=0.1"}

    def request(target: httpx2.URL) -> Response:
        return send(Request(target, headers, MAX_RULES, cut=True), settings, allow, clock)

    try:
        response = _follow(url.copy_with(raw_path=b"/robots.txt"), request)
    except FetchFailed as error:
        if error.kind not in ("timed_out", "unreadable"):
            return error
        problem = f"cannot be read ({error})"
    else:
        if response.status < 500:
            lines = response.content.decode("utf-8", "replace").splitlines()
            rules = "\n".join(" ".join(line.split()) for line in lines)
            return Protego.parse(_OTHER_AGENT.sub("User-agent: another", rules))
        problem = f"answers with HTTP {response.status}"
    message = (
        f"the robots.txt of {host_of(url)} {problem}, so its pages are not read; "
        f"run again later, or {AS_DOCUMENT}"
    )
    return FetchFailed("robots", message)
