"""Send requests to checked addresses only, bounded in time and bytes, with typed failures.

A name is resolved once, every address is checked, and the socket is opened to a checked address: a
name that resolves differently the second time (DNS rebinding) has no second time. Host header and
TLS name stay.
"""

from __future__ import annotations

import gzip
import io
import queue
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpcore2
import httpx2

from attribution.errors import FetchFailed
from attribution.settings import Settings
from attribution.types import FailureKind

# --- connections ---

CONNECT_SECONDS = 5.0
HOST_CONNECTIONS = 2  # requests to one host at once
Allow = Callable[[str], bool]
_NAT64 = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")
# services of clouds for their own machines: metadata of Oracle's, the host of Azure's
_OF_CLOUDS = (IPv4Network("192.0.0.0/24"), IPv4Network("168.63.129.16/32"))


def is_public(address: str) -> bool:
    """Return True if a numeric address is on the public internet.

    IPv4 mapped into IPv6 is judged as IPv4.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        mapped = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            mapped = IPv4Address(int(ip) & 0xFFFFFFFF)
        if mapped is None:
            return ip in _UNICAST and ip.is_global and not ip.is_multicast
        ip = mapped
    is_of_cloud = any(ip in network for network in _OF_CLOUDS)
    return ip.is_global and not ip.is_multicast and not is_of_cloud


class NameNotResolved(httpcore2.ConnectError):
    """No address is known for a host."""


class AddressNotAllowed(Exception):
    """A host has an address that requests must not go to; no connection was made."""


class Clock:
    """The wall clock of one page, redirects and extraction included, or of one request.

    It starts with the first request, not with the wait for a turn.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end: float | None = None

    def left(self) -> float:
        """Seconds, at least 0."""
        now = time.monotonic()
        if self._end is None:
            self._end = now + self.seconds
        return max(0.0, self._end - now)

    def cap(self, timeout: float | None) -> float:
        """The shorter of a timeout and the time left; ReadTimeout where none is left."""
        left = self.left()
        if not left:
            raise httpcore2.ReadTimeout("the time is over")
        return left if timeout is None else min(left, timeout)


def resolve(host: str, port: int, timeout: float) -> list[str]:
    """Return the addresses of a host, in the system's order.

    They are looked up in a thread, because getaddrinfo has no timeout.

    Raises:
        ConnectTimeout: There was no answer in time.
        NameNotResolved: No address is known.
    """
    answers: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answers.put(list(dict.fromkeys(str(info[4][0]) for info in infos)))
        except (OSError, ValueError) as error:  # ValueError: a name that cannot be encoded
            answers.put(NameNotResolved(str(error)))

    threading.Thread(target=look_up, name="resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=timeout)
    except queue.Empty:
        raise httpcore2.ConnectTimeout(f"{host} was not resolved in {timeout:.1f} s") from None
    if isinstance(answer, Exception):
        raise answer
    return answer


class CheckedBackend(httpcore2.NetworkBackend):
    """Opens sockets to addresses that `allow` accepts; one forbidden address rejects the host."""

    def __init__(self, allow: Allow, clock: Clock) -> None:
        self._allow = allow
        self._clock = clock
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        addresses = resolve(host, port, self._clock.cap(timeout))
        if not all(map(self._allow, addresses)):
            raise AddressNotAllowed(host)
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                stream = self._sockets.connect_tcp(
                    address, port, self._clock.cap(timeout), local_address, socket_options
                )
                return _TimedStream(stream, self._clock)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


class _TimedStream(httpcore2.NetworkStream):
    """A stream whose every operation ends with the page's clock: no slow server outlasts it."""

    def __init__(self, stream: httpcore2.NetworkStream, clock: Clock) -> None:
        self._stream = stream
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._clock.cap(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._clock.cap(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._clock.cap(timeout))
        return _TimedStream(stream, self._clock)


@cache  # reading the certificates takes a quarter of a second
def tls_context() -> ssl.SSLContext:
    """Return the trusted certificates, whatever the environment says."""
    return httpx2.create_ssl_context(trust_env=False)


# --- requests ---

AGENT = "attribution-explorer"  # the name that a robots.txt can address
USER_AGENT = f"{AGENT}/1.0 (checks the claims of an answer against its sources)"
AS_DOCUMENT = "add the page's text as a document"
REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = (None, *range(1, 65_536))
_HOST = re.compile(rb"[A-Za-z0-9._:-]+")


@dataclass(frozen=True)
class Response:
    """The response to one request."""

    url: httpx2.URL
    status: int
    headers: httpx2.Headers
    content: bytes = b""


class TooLarge(Exception):
    """A response of more bytes than are read."""


def parsed(url: str, base: httpx2.URL | None = None) -> httpx2.URL:
    """Return the URL without its fragment.

    Raises:
        FetchFailed: bad_address where it may not be fetched.
    """
    try:
        joined = base.join(url.strip()) if base else httpx2.URL(url.strip())
        target = joined.copy_with(fragment=None)
    except (httpx2.InvalidURL, ValueError):
        target = httpx2.URL("")
    is_web = target.scheme in ("http", "https") and _HOST.fullmatch(target.raw_host)
    if not is_web or target.port not in _PORTS:
        message = f"{url[:200]!r} is not a web address; expected https://… or http://…"
        raise FetchFailed("bad_address", message)
    if target.userinfo:
        message = f"the address on {host_of(target)} carries a user name or password; remove it"
        raise FetchFailed("bad_address", message)
    return target


def host_of(url: httpx2.URL) -> str:
    """Return the host as it is sent.

    `url.host` fails on names that are invalid in IDNA 2008, such as xn--i-7iq.ws.
    """
    return url.raw_host.decode("ascii")


@dataclass(frozen=True)
class Request:
    """A GET, or the POST of a body, without redirects and cookies.

    Attributes:
        url: The address.
        headers: Beside those of every request.
        limit: Bytes that are read of a 2xx response, unpacked.
        cut: Cut a longer response rather than fail.
        body: Sent by POST.
        check: May reject a 2xx response by its headers.
        error_bytes: Bytes that are read of any other response.
    """

    url: httpx2.URL
    headers: Mapping[str, str]
    limit: int
    cut: bool = False
    body: bytes | None = None
    check: Callable[[httpx2.Headers], None] | None = None
    error_bytes: int = 0


def send(request: Request, settings: Settings, allow: Allow, clock: Clock) -> Response:
    """Send a request for a page or to a search engine.

    Args:
        request: What is sent.
        settings: Timeout of reading.
        allow: Decides on each numeric address.
        clock: The wall clock of all requests for the page.

    Raises:
        FetchFailed: too_large, timed_out, unreachable, bad_certificate, blocked_address or
            unreadable.
    """
    timeouts = (CONNECT_SECONDS, settings.read_timeout)
    host = host_of(request.url)
    try:
        return exchange(request, allow, clock, timeouts)
    except AddressNotAllowed:
        message = (
            f"{host} is not on the public web (its address is private, local or reserved), so it "
            f"is not fetched; {AS_DOCUMENT} instead"
        )
        raise FetchFailed("blocked_address", message) from None
    except TooLarge:
        message = (
            f"{host} sends more than {request.limit:,} bytes for this page; "
            "add only the part you need, as a document"
        )
        raise FetchFailed("too_large", message) from None
    except zlib.error as error:
        message = f"{host} sends compressed data that cannot be decompressed"
        raise FetchFailed("unreadable", message, detail=error) from None
    except (httpcore2.ConnectTimeout, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        kind: FailureKind = "unreachable"
        problem = "closed the connection or sent no valid response"
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            kind = "bad_certificate"
            problem = "has no valid certificate, so it may be another server"
        elif isinstance(error, NameNotResolved):
            problem = "is a name that cannot be resolved"
        elif isinstance(error, httpcore2.ConnectError | httpcore2.ConnectTimeout):
            problem = "cannot be reached"
        message = f"{host} {problem}; check the address, run again later, or {AS_DOCUMENT}"
        raise FetchFailed(kind, message, detail=words_of(error)) from None
    except httpcore2.TimeoutException:
        message = f"{host} did not respond within {clock.seconds:g} s; run again later"
        raise FetchFailed("timed_out", message) from None


def words_of(error: Exception) -> str:
    """Return an error of a connection as text.

    A local protocol error may quote what was sent, including keys, so its name has to do.
    """
    is_local = isinstance(error, httpcore2.LocalProtocolError)
    return type(error).__name__ if is_local else repr(error)


def exchange(
    request: Request, allow: Allow, clock: Clock, timeouts: tuple[float, float]
) -> Response:
    """Send a request.

    Args:
        request: What is sent.
        allow: Decides on each numeric address.
        clock: The wall clock.
        timeouts: Seconds of connecting and reading.

    Raises:
        AddressNotAllowed: Nothing was sent.
        TooLarge: The response is longer than the request's limit.
        zlib.error: The response cannot be unpacked.
        Exception: Errors of httpcore2.
    """
    url, body = request.url, request.body
    sent: dict[bytes | str, bytes | str] = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": USER_AGENT,
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    sent.update(dict(request.headers))
    if body is not None:
        sent["Content-Length"] = str(len(body))
    connecting, reading = timeouts
    timeout = {"connect": connecting, "pool": connecting, "read": reading, "write": reading}
    address = httpcore2.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )
    # no proxy or certificate setting is read from the environment
    backend = CheckedBackend(allow, clock)
    with (
        httpcore2.ConnectionPool(tls_context(), network_backend=backend) as pool,
        pool.stream(
            "GET" if body is None else "POST",
            address,
            headers=sent,
            content=body,
            extensions={"timeout": timeout},
        ) as response,
    ):
        headers = httpx2.Headers(response.headers)
        content = b""
        if 200 <= response.status < 300:
            if request.check:
                request.check(headers)
            content = _read(response, headers, request.limit, request.cut)
        elif request.error_bytes:
            with suppress(zlib.error):
                content = _read(response, headers, request.error_bytes, cut=True)
        return Response(url, response.status, headers, content)


def _read(response: httpcore2.Response, headers: httpx2.Headers, limit: int, cut: bool) -> bytes:
    """Return the body, unpacked no further than its limit."""
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "none", "utf-8", "gzip", "x-gzip"):
        raise zlib.error(f"encoding {encoding[:40]!r} was not requested")
    sent = bytearray()
    for part in response.iter_stream():
        sent += part
        if len(sent) > limit and not cut:
            raise TooLarge
        if len(sent) > limit:
            break
    content = bytes(sent)
    if encoding.endswith("gzip"):
        try:
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(limit + 1)
        except (EOFError, gzip.BadGzipFile) as error:
            raise zlib.error(str(error)) from None
    if len(content) > limit and not cut:
        raise TooLarge
    return content[:limit]
