"""One request to a checked address: bounded in time and bytes, decompressed on the way, with typed
failures.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import httpcore2
import httpx2

from attribution.errors import FetchFailed
from attribution.fetching.network import AddressNotAllowed, Allow, Clock, NameNotResolved, open_pool
from attribution.settings import Settings

AGENT = "attribution-explorer"  # the name that a robots.txt can address
USER_AGENT = f"{AGENT}/1.0 (checks the claims of an answer against its sources)"
REDIRECTS = (301, 302, 303, 307, 308)
_HOST = re.compile(rb"[A-Za-z0-9._:-]+")
_BLOCK = 65_536


@dataclass(frozen=True)
class Response:
    """The response to one request."""

    url: httpx2.URL
    status: int
    headers: httpx2.Headers
    content: bytes = b""


class TooLarge(Exception):
    """A response of more bytes, packed or unpacked, than are read."""


def parsed(url: str, base: httpx2.URL | None = None) -> httpx2.URL:
    """The URL without its fragment; FetchFailed(bad_address) where it may not be fetched."""
    try:
        target = (base.join(url.strip()) if base else httpx2.URL(url.strip())).copy_with(
            fragment=None
        )
    except (httpx2.InvalidURL, ValueError):
        message = f"{url[:200]!r} is not a web address; expected https://… or http://…"
        raise FetchFailed("bad_address", message) from None
    if target.scheme not in ("http", "https") or not _HOST.fullmatch(target.raw_host):
        message = f"{url[:200]!r} cannot be fetched; expected an address with http:// or https://"
        raise FetchFailed("bad_address", message)
    if target.userinfo:
        raise FetchFailed(
            "bad_address",
            f"the address on {host_of(target)} carries a user name or password; remove it",
        )
    if target.port is not None and not 0 < target.port < 65_536:
        raise FetchFailed("bad_address", f"port {target.port} does not exist; expected 1 to 65535")
    return target


def host_of(url: httpx2.URL) -> str:
    """The host as it is sent; `url.host` fails on names that are invalid in IDNA 2008, such as
    xn--i-7iq.ws.
    """
    return url.raw_host.decode("ascii")


def send(
    url: httpx2.URL,
    settings: Settings,
    allow: Allow,
    clock: Clock,
    *,
    headers: Mapping[str, str],
    limit: int,
    cut: bool = False,
    body: bytes | None = None,
    check: Callable[[httpx2.Headers], None] | None = None,
) -> Response:
    """One request for a page or to a search engine; the content is read only where the status is
    2xx.

    A body of more than `limit` bytes is cut where `cut`, else FetchFailed(too_large). Other kinds:
    timed_out,
    unreachable, bad_certificate, blocked_address, unreadable.
    """
    host, timeouts = host_of(url), (settings.connect_timeout, settings.read_timeout)
    try:
        return exchange(
            url,
            allow,
            clock,
            timeouts,
            headers=headers,
            limit=limit,
            cut=cut,
            body=body,
            check=check,
        )
    except AddressNotAllowed:
        why = "is not on the public web (its address is private, local or reserved), so it is not fetched"
        message = f"{host} {why}; add the page's text as a document instead"
        raise FetchFailed("blocked_address", message) from None
    except TooLarge:
        message = f"{host} sends more than {limit:,} bytes for this page; add only the part you need, as a document"
        raise FetchFailed("too_large", message) from None
    except zlib.error as error:
        message = f"{host} sends compressed data that cannot be decompressed"
        raise FetchFailed("unreadable", message, detail=error) from None
    except httpcore2.ConnectTimeout:
        raise FetchFailed(
            "unreachable", f"{host} did not accept a connection in time; run again later"
        ) from None
    except httpcore2.TimeoutException:
        raise FetchFailed(
            "timed_out", f"{host} did not respond within {clock.seconds:g} s; run again later"
        ) from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise FetchFailed(
                "bad_certificate",
                f"the certificate of {host} is not valid, so it may be another server; add the page's text as a "
                "document if you trust it",
            ) from None
        if isinstance(error, NameNotResolved):
            problem = f"the name {host} cannot be resolved; check the address"
        elif isinstance(error, httpcore2.ConnectError):
            problem = f"{host} cannot be reached; check the address, or run again later"
        else:
            problem = f"{host} closed the connection or sent no valid response; run again later"
        raise FetchFailed("unreachable", problem, detail=words_of(error)) from None


def words_of(error: Exception) -> str:
    """An error of a connection; a local one may quote what was sent, including keys, so its name
    has to do.
    """
    return type(error).__name__ if isinstance(error, httpcore2.LocalProtocolError) else repr(error)


def exchange(
    url: httpx2.URL,
    allow: Allow,
    clock: Clock,
    timeouts: tuple[float, float],
    *,
    headers: Mapping[str, str],
    limit: int,
    cut: bool = False,
    body: bytes | None = None,
    check: Callable[[httpx2.Headers], None] | None = None,
    error_bytes: int = 0,
) -> Response:
    """One GET, or POST of a body, without redirects and cookies; `timeouts` are those of connecting
    and reading.

    `check` may reject a 2xx response by its headers. At most `limit` bytes of it are read, packed
    or unpacked; more
    are cut where `cut`, else TooLarge. Of any other response at most `error_bytes` are read. Raises
    AddressNotAllowed,
    zlib.error for a body that cannot be unpacked, and the errors of httpcore2.
    """
    sent: dict[bytes | str, bytes | str] = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": USER_AGENT,
        "Accept-Encoding": "gzip",  # what _inflated can bound
        "Connection": "close",
    }
    sent.update(dict(headers))
    if body is not None:
        sent["Content-Length"] = str(len(body))
    connecting, reading = timeouts
    timeout = {"connect": connecting, "pool": connecting, "read": reading, "write": reading}
    address = httpcore2.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )
    with (
        open_pool(allow, clock) as pool,
        pool.stream(
            "GET" if body is None else "POST",
            address,
            headers=sent,
            content=body,
            extensions={"timeout": timeout},
        ) as response,
    ):
        fields = httpx2.Headers(response.headers)
        if 200 <= response.status < 300:
            if check:
                check(fields)
            return Response(url, response.status, fields, _read(response, fields, limit, cut))
        content = b""
        if error_bytes:
            with contextlib.suppress(zlib.error):
                content = _read(response, fields, error_bytes, cut=True)
        return Response(url, response.status, fields, content)


def _read(response: httpcore2.Response, headers: httpx2.Headers, limit: int, cut: bool) -> bytes:
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limit and not cut:
        raise TooLarge
    content = bytearray()
    for part in _inflated(response.iter_stream(), headers.get("content-encoding", ""), limit):
        content += part
        if len(content) > limit and cut:
            return bytes(content[:limit])
        if len(content) > limit:
            raise TooLarge
    return bytes(content)


def _inflated(parts: Iterable[bytes], encoding: str, limit: int) -> Iterator[bytes]:
    """The body decompressed in small blocks, so that a few bytes cannot become gigabytes before
    they are counted.

    A gzip body may have several members one after the other (RFC 1952, 2.2); what follows the last
    one is padding.
    """
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        yield from parts
        return
    if encoding not in ("gzip", "x-gzip"):
        raise zlib.error(f"encoding {encoding[:40]!r} was not requested")
    gzip, packed = zlib.decompressobj(16 + zlib.MAX_WBITS), 0
    waiting = b""
    for part in parts:
        packed += len(part)
        if packed > limit:  # blocks that decompress to nothing are not read for ever
            raise zlib.error(f"more than {limit:,} bytes packed")
        waiting += part
        while waiting:
            if gzip.eof:
                if len(waiting) < 2:
                    break  # too little to distinguish another member from padding
                if not waiting.startswith(b"\x1f\x8b"):
                    return
                gzip = zlib.decompressobj(16 + zlib.MAX_WBITS)
            yield gzip.decompress(waiting, _BLOCK)
            waiting = gzip.unused_data if gzip.eof else gzip.unconsumed_tail
    if not gzip.eof:
        yield gzip.flush(_BLOCK)
    if not gzip.eof:
        raise zlib.error("it ends too early")
