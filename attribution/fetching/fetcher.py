"""URL → Page: public http(s) addresses only, polite per host, bounded in time, size and redirects."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2
from protego import Protego

from attribution.errors import FetchFailed
from attribution.fetching.content_type import check_declared
from attribution.fetching.http import AGENT, REDIRECTS, Response, host_of, parsed, send
from attribution.fetching.network import Allow, Clock, is_public
from attribution.fetching.page import make_page
from attribution.fetching.sandbox import Reading, warm
from attribution.settings import Settings
from attribution.store.database import now
from attribution.types import FailureKind, Page

MAX_REDIRECTS = 5
ACCEPT = (
    "text/html, application/xhtml+xml, application/pdf, text/markdown, text/plain;q=0.9, */*;q=0.1"
)
_MAX_HEADER = 500  # characters of an ETag that is stored
_ADVICE: dict[int, tuple[FailureKind, str]] = {
    401: ("http_error", "it requires a login; add the page's text as a document instead"),
    402: ("paywall", "it requires payment; add the page's text as a document instead"),
    403: ("http_error", "it denies access; add the page's text as a document instead"),
    404: ("http_error", "the page does not exist; check the address"),
    410: ("http_error", "the page was removed; look for a newer address"),
    429: (
        "rate_limited",
        "it limits requests; wait some minutes and run again, or add the page's text as a document",
    ),
    451: ("http_error", "it is unavailable for legal reasons; look for another source"),
}


def fetch(url: str, settings: Settings, allow: Allow = is_public) -> Page:
    """One page by itself; see `Fetcher`."""
    return Fetcher(settings, allow).fetch(url)


class Fetcher:
    """Pages of one run, which share each host's rules and turn, and take turns with other runs'
    when they are read.

    `allow` decides on each numeric address before a connection is opened.
    """

    def __init__(
        self, settings: Settings, allow: Allow = is_public, reading: Reading | None = None
    ) -> None:
        self._settings, self._allow = settings, allow
        self._reading = reading or Reading()
        self._hosts: dict[str, _Host] = {}
        self._lock = threading.Lock()

    def fetch(self, url: str, old: Page | None = None) -> Page:
        """The page at a URL; where redirects led elsewhere, `reference` holds the final address.

        With an `old` copy the request is conditional; where nothing has changed, that copy is
        returned with a new time.
        FetchFailed with the requested URL as subject.
        """
        try:
            warm()
            clock, reply = self._follow(parsed(url), old)
            if reply.status == 304 and old is not None:
                return old.model_copy(update={"fetched_at": now()})
            media_type = reply.headers.get("content-type", "")
            extracted = self._reading.read(
                reply.content, media_type, str(reply.url), max(0.1, clock.left())
            )
            page = make_page(
                url, "web", extracted, reference=str(reply.url) if reply.url != parsed(url) else ""
            )
            validators = {field: reply.headers.get(name, "") for field, name in _VALIDATORS.items()}
            return page.model_copy(
                update={k: v for k, v in validators.items() if len(v) <= _MAX_HEADER}
            )
        except FetchFailed as error:
            raise FetchFailed(error.kind, str(error), url, error.status, error.detail) from error

    def _follow(self, target: httpx2.URL, old: Page | None) -> tuple[Clock, Response]:
        """The last reply of a chain of redirects, and the page's clock, which starts with the first
        request.
        """
        clock: Clock | None = None
        seen: list[httpx2.URL] = []
        while True:
            if target in seen:
                message = f"{host_of(target)} redirects in a circle; open the page in a browser to see why"
                raise FetchFailed("redirect_loop", message)
            if len(seen) > MAX_REDIRECTS:
                message = f"more than {MAX_REDIRECTS} redirects, last to {host_of(target)}; use the final address"
                raise FetchFailed("redirect_loop", message)
            seen.append(target)
            with self._host(target).turn(target, self._settings, self._allow):
                clock = clock or Clock(self._settings.page_timeout)
                reply = self._send(target, clock, old)
            location = reply.headers.get("location")
            if reply.status not in REDIRECTS or not location:
                return clock, _checked(reply, old)
            target = parsed(location, base=target)

    def _send(self, target: httpx2.URL, clock: Clock, old: Page | None) -> Response:
        headers = {"Accept": ACCEPT}
        if old and old.etag:
            headers["If-None-Match"] = old.etag
        if old and old.last_modified:
            headers["If-Modified-Since"] = old.last_modified
        return send(
            target,
            self._settings,
            self._allow,
            clock,
            headers=headers,
            limit=self._settings.page_bytes,
            check=lambda headers: check_declared(headers.get("content-type", ""), host_of(target)),
        )

    def _host(self, url: httpx2.URL) -> _Host:
        with self._lock:
            key = f"{url.scheme}://{url.netloc.decode('ascii')}"
            return self._hosts.setdefault(key, _Host(self._settings.host_connections))


class _Host:
    """The rules of one host, read once, and the turns of requests to it."""

    def __init__(self, connections: int) -> None:
        self._connections = threading.BoundedSemaphore(connections)
        self._rules_lock, self._turn_lock = threading.Lock(), threading.Lock()
        self._rules: Rules | None = None
        self._next = 0.0

    @contextmanager
    def turn(self, url: httpx2.URL, settings: Settings, allow: Allow) -> Iterator[None]:
        """Wait until the page may be requested; FetchFailed where it may not."""
        with self._rules_lock:
            if self._rules is None:
                self._rules = read_rules(url, settings, allow)
        self._rules.check(url)
        with self._connections:
            with self._turn_lock:
                pause = max(0.0, self._next - time.monotonic())
                self._next = max(self._next, time.monotonic()) + self._rules.delay
            time.sleep(pause)
            yield


_VALIDATORS = {"etag": "etag", "last_modified": "last-modified"}


def _checked(reply: Response, old: Page | None) -> Response:
    """The reply if it is a page, or says that the old one is current; else FetchFailed with its
    advice.
    """
    if 200 <= reply.status < 300 or (reply.status == 304 and old is not None):
        return reply
    default: tuple[FailureKind, str] = (
        "server_error" if reply.status >= 500 else "http_error",
        "run again later or use another address of the page",
    )
    kind, advice = _ADVICE.get(reply.status, default)
    message = f"{host_of(reply.url)} answered with HTTP {reply.status}: {advice}"
    raise FetchFailed(kind, message, status=reply.status)


MAX_BYTES = 512_000  # RFC 9309, 2.5: at least 500 kibibytes are read, the rest is ignored
_OURS = re.compile(rf"{AGENT}(?:[*/ ].*)?")
_AGENT_LINE = re.compile(r"\s*user[- ]?agent\s*:?\s*(.*)", re.IGNORECASE)


@dataclass(frozen=True)
class Rules:
    """The rules of one host; `refused` says why none of its pages may be requested, `delay` is in
    seconds.
    """

    parsed: Protego | None = None  # None: everything is allowed
    delay: float = 0.0
    refused: FetchFailed | None = None

    def check(self, url: httpx2.URL) -> None:
        """Raise FetchFailed(robots) if programs are not allowed to read the page."""
        if self.refused:
            raise FetchFailed(self.refused.kind, str(self.refused), detail=self.refused.detail)
        if self.parsed and not self.parsed.can_fetch(str(url), AGENT):
            where, advice = (
                f"the robots.txt of {host_of(url)}",
                "open it in a browser and add its text as a document",
            )
            raise FetchFailed(
                "robots", f"{where} does not allow programs to read this page; {advice}"
            )


def read_rules(url: httpx2.URL, settings: Settings, allow: Allow) -> Rules:
    """Read the rules of a URL's host, within `settings.robots_timeout`.

    RFC 9309, 2.3.1: a missing robots.txt (4xx) allows everything; one that cannot be fetched (5xx,
    no response)
    forbids everything. A host that cannot be reached at all keeps that failure's kind.
    """
    clock = Clock(settings.robots_timeout)
    target = url.copy_with(raw_path=b"/robots.txt")
    try:
        for _ in range(MAX_REDIRECTS + 1):
            reply = send(
                target,
                settings,
                allow,
                clock,
                headers={"Accept": "text/plain, */*;q=0.1"},
                limit=MAX_BYTES,
                cut=True,
            )
            location = reply.headers.get("location")
            if reply.status not in REDIRECTS or not location:
                break
            target = parsed(location, base=target)
    except FetchFailed as error:
        if error.kind not in ("timed_out", "unreadable"):
            return Rules(refused=error)
        return Rules(
            refused=_unknown(
                url, "timed out" if error.kind == "timed_out" else "is unreadable", error.detail
            )
        )
    if reply.status >= 500 or reply.status < 200:
        return Rules(refused=_unknown(url, f"answers with HTTP {reply.status}"))
    if reply.status >= 300:
        return Rules()
    rules = Protego.parse(_merged(reply.content.decode("utf-8", "replace")))
    delay = rules.crawl_delay(AGENT) or 0.0
    if rate := rules.request_rate(AGENT):
        delay = max(delay, rate.seconds / rate.requests)
    return Rules(rules, min(delay, settings.crawl_delay))


def _unknown(url: httpx2.URL, why: str, detail: str = "") -> FetchFailed:
    advice = "run again later, or add the page's text as a document"
    message = f"the robots.txt of {host_of(url)} {why}, so its pages are not read; {advice}"
    return FetchFailed("robots", message, detail=detail)


def _merged(text: str) -> str:
    """Merge the groups of all other programs under one name, so that names times rules cannot fill
    the memory.
    """
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if match := _AGENT_LINE.match(line.partition("#")[0]):
            name = match[1].strip().lower()
            ours = _OURS.fullmatch(name)
            lines[number] = f"User-agent: {AGENT if ours else '*' if name == '*' else 'another'}"
    return "\n".join(lines)
