"""Open connections to checked addresses only, under one wall clock.

A name is resolved once, every address is checked, and the socket is opened to a checked address: a
name that resolves differently the second time (DNS rebinding) has no second time. Host header and
TLS name stay.
"""

from __future__ import annotations

import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import httpcore2
import httpx2

from attribution.models.loading import load_once

Allow = Callable[[str], bool]
_NAT64 = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")


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
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


class NameNotResolved(httpcore2.ConnectError):
    """No address is known for a host."""


class AddressNotAllowed(Exception):
    """A host has an address that requests must not go to; no connection was made."""


class Clock:
    """The wall clock of one page, redirects and extraction included, or of one request."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def cap(self, timeout: float | None) -> float:
        """The shorter of a timeout and the time left; ReadTimeout where none is left."""
        left = self._end - time.monotonic()
        if left <= 0:
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
            answers.put(error)

    threading.Thread(target=look_up, name="resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=timeout)
    except queue.Empty:
        raise httpcore2.ConnectTimeout(
            f"the name {host} was not resolved in {timeout:.1f} s"
        ) from None
    if isinstance(answer, Exception) or not answer:
        raise NameNotResolved(str(answer))
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

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


@load_once  # reading the certificates takes a quarter of a second
def tls_context() -> ssl.SSLContext:
    """Return the trusted certificates, whatever the environment says."""
    return httpx2.create_ssl_context(trust_env=False)


def open_pool(allow: Allow, clock: Clock) -> httpcore2.ConnectionPool:
    """A pool for one request; it reads no proxy or certificate settings from the environment."""
    backend = CheckedBackend(allow, clock)
    return httpcore2.ConnectionPool(
        ssl_context=tls_context(), max_connections=1, network_backend=backend
    )
