"""URL → Page: public http(s) addresses only, bounded in time, size and redirects; every refusal has its kind."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import httpcore
import httpx

from attribution.errors import FetchFailed
from attribution.extraction import extract, make_page
from attribution.media import check_declared
from attribution.settings import Settings
from attribution.transport import Allow, Clock, is_public, open_pool
from attribution.types import Page

USER_AGENT = "attribution-explorer/1.0 (checks the claims of an answer against its sources)"
MAX_REDIRECTS = 5
_HOST = re.compile(rb"[A-Za-z0-9._:-]+")
_REDIRECTS = (301, 302, 303, 307, 308)
_BLOCK = 65_536
_ADVICE = {
    401: "it asks for a login; add the page's text as a document instead",
    403: "it refuses programs; add the page's text as a document instead",
    404: "the page does not exist; check the address",
    410: "the page was removed; look for a newer address",
    429: "it was asked too often; wait some minutes and run again, or add the page's text as a document",
}


@dataclass(frozen=True)
class _Answer:
    """What one request brought: the next address, or a body with its Content-Type."""

    location: str = ""
    media_type: str = ""
    content: bytes = b""


def fetch(url: str, settings: Settings, allow: Allow = is_public) -> Page:
    """The page at a URL; where redirects led elsewhere, `reference` holds the final address.

    Raises FetchFailed with the URL asked for as subject. `allow` judges each numeric address before a connection
    is opened to it; it is asked again on every redirect.
    """
    try:
        target, answer = _follow(url, settings, allow)
        extracted = extract(answer.content, answer.media_type, target)
        return make_page(url, "web", extracted, reference=target if target != str(_parsed(url)) else "")
    except FetchFailed as error:
        raise FetchFailed(error.kind, str(error), url) from error


def _follow(url: str, settings: Settings, allow: Allow) -> tuple[str, _Answer]:
    clock = Clock(settings.page_timeout)
    target = _parsed(url)
    seen: list[httpx.URL] = []
    while True:
        if target in seen:
            raise FetchFailed(
                "http_error", f"{_host(target)} redirects in a circle; open the page in a browser to see why"
            )
        if len(seen) > MAX_REDIRECTS:
            raise FetchFailed(
                "http_error", f"more than {MAX_REDIRECTS} redirects, last to {_host(target)}; use the final address"
            )
        seen.append(target)
        answer = _get(target, settings, allow, clock)
        if not answer.location:
            return str(target), answer
        target = _parsed(answer.location, base=target)


def _parsed(url: str, base: httpx.URL | None = None) -> httpx.URL:
    """The URL without its fragment; FetchFailed(bad_address) where it is not one that may be fetched."""
    try:
        parsed = (base.join(url.strip()) if base else httpx.URL(url.strip())).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError):
        raise FetchFailed("bad_address", f"{url[:200]!r} is not an address; expected https://… or http://…") from None
    if parsed.scheme not in ("http", "https") or not _HOST.fullmatch(parsed.raw_host):
        raise FetchFailed(
            "bad_address", f"{url[:200]!r} cannot be fetched; expected an address with http:// or https://"
        )
    if parsed.userinfo:
        raise FetchFailed("bad_address", f"the address on {_host(parsed)} carries a user name or password; remove it")
    if parsed.port is not None and not 0 < parsed.port < 65_536:
        raise FetchFailed("bad_address", f"port {parsed.port} does not exist; expected 1 to 65535")
    return parsed


def _host(url: httpx.URL) -> str:
    """The host as it is asked for; `url.host` fails on names that IDNA 2008 does not know, such as xn--i-7iq.ws."""
    return url.raw_host.decode("ascii")


def _get(url: httpx.URL, settings: Settings, allow: Allow, clock: Clock) -> _Answer:
    """One request without redirects; what goes wrong on the way becomes a FetchFailed of its kind."""
    headers: dict[bytes | str, bytes | str] = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": USER_AGENT,
        "Accept": "text/html, application/xhtml+xml, application/pdf, text/markdown, text/plain;q=0.9, */*;q=0.1",
        "Accept-Encoding": "gzip",  # what _inflated can bound
        "Connection": "close",
    }
    timeout = {
        "connect": settings.connect_timeout,
        "read": settings.read_timeout,
        "write": settings.read_timeout,
        "pool": settings.connect_timeout,
    }
    address = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    try:
        with (
            open_pool(allow, clock) as pool,
            pool.stream("GET", address, headers=headers, extensions={"timeout": timeout}) as response,
        ):
            return _read(url, response, settings.page_bytes)
    except httpcore.TimeoutException:
        raise FetchFailed(
            "timed_out", f"{_host(url)} did not deliver the page within {settings.page_timeout:g} s; run again later"
        ) from None
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        reason = str(error) or type(error).__name__
        raise FetchFailed("unreachable", f"{_host(url)} could not be read: {reason[:200]}; check the address") from None


def _read(url: httpx.URL, response: httpcore.Response, limit: int) -> _Answer:
    headers = httpx.Headers(response.headers)
    if response.status in _REDIRECTS and (location := headers.get("location")):
        return _Answer(location=location)
    if not 200 <= response.status < 300:
        advice = _ADVICE.get(response.status, "run again later or use another address of the page")
        raise FetchFailed("http_error", f"{_host(url)} answered with HTTP {response.status}: {advice}")
    media_type = headers.get("content-type", "")
    check_declared(media_type, _host(url))
    too_large = FetchFailed(
        "too_large", f"{_host(url)} sends more than {limit:,} bytes for this page; add the part you need as a document"
    )
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise too_large
    content = bytearray()
    try:
        for part in _inflated(response.iter_stream(), headers.get("content-encoding", ""), limit):
            content += part
            if len(content) > limit:
                raise too_large
    except zlib.error as error:
        raise FetchFailed(
            "unreadable", f"{_host(url)} sends compressed data that cannot be unpacked: {error}"
        ) from None
    return _Answer(media_type=media_type, content=bytes(content))


def _inflated(parts: Iterable[bytes], encoding: str, limit: int) -> Iterator[bytes]:
    """The body unpacked in small blocks, so that a few bytes cannot become gigabytes before they are counted."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        yield from parts
        return
    if encoding not in ("gzip", "x-gzip"):
        raise zlib.error(f"encoding {encoding[:40]!r} was not asked for")
    gzip = zlib.decompressobj(16 + zlib.MAX_WBITS)
    packed = 0
    for part in parts:
        packed += len(part)
        if packed > limit:  # blocks that unpack to nothing are not read for ever
            raise zlib.error(f"more than {limit:,} bytes packed")
        while part and not gzip.eof:
            yield gzip.decompress(part, _BLOCK)
            part = gzip.unconsumed_tail
        if gzip.eof:
            return
    yield gzip.flush(_BLOCK)
    if not gzip.eof:
        raise zlib.error("it ends too early")
