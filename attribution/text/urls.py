"""Compare addresses: which are of the same page, and which are on an excluded site. Not for
fetching.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from w3lib.url import canonicalize_url

_TRACKING = re.compile(
    r"""
    utm_\w* | _?hs(?:enc|mi) | mc_[ce]id | [gdwmt]cl(?:id|src) | [gw]braid | fbclid | msclkid
    | yclid | twclid | igshid | igsh | _gl | _ga | mkt_tok | vero_id | oly_(?:anon|enc)_id
    | ref_src | ref_url | cmpid | wt_mc | wickedid | srsltid | at_(?:medium|campaign)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OF_DEVICES = ("m", "mobile", "amp")  # host names of one site, where one owner has both


def canonical(url: str) -> str:
    """Return one spelling for the addresses of one page; anything but an http(s) address stays.

    Scheme, default port, fragment, tracking parameters, order of parameters, last slash and www.
    make no difference. m. and amp. do: where names of a domain are given to anybody, they are
    another owner's. Idempotent.
    """
    try:
        url.encode()  # half of a surrogate pair is in no address
        parts = urlsplit(canonicalize_url(url.strip()))
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:  # such as an unclosed [ or a port of letters
        return url
    if parts.scheme.lower() not in ("http", "https") or host.split() != [host]:
        return url  # without a host, or with one that has a space
    pairs = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not _TRACKING.fullmatch(name)
    ]
    where = host if port in (None, 80, 443) else f"{host}:{port}"
    query = f"?{urlencode(pairs)}" if pairs else ""
    return f"https://{where}{parts.path.rstrip('/')}{query}"


def excluded(url: str, patterns: Iterable[str]) -> bool:
    """Return True if the address is on one of those sites or subdomains, or at or below one of
    those addresses.
    """
    address = _split(url)
    for place in _places(tuple(patterns)):
        is_on_site = f".{address.netloc}".endswith(f".{place.netloc}")
        is_below = f"{address.path}/".startswith(f"{place.path}/")
        if is_on_site and is_below and place.query in ("", address.query):
            return True
    return False


@lru_cache(maxsize=64)
def _places(patterns: tuple[str, ...]) -> list[SplitResult]:
    places = [_split(pattern if "://" in pattern else f"https://{pattern}") for pattern in patterns]
    return [place for place in places if place.netloc]


def _split(url: str) -> SplitResult:
    """Return the parts of a canonical address, without devices in its host; empty without any."""
    try:
        parts = urlsplit(canonical(url))
    except ValueError:  # such as an unclosed [
        return urlsplit("")
    labels = parts.netloc.split(".")
    names = [label for label in labels[:-2] if label not in _OF_DEVICES]
    return parts._replace(netloc=".".join([*names, *labels[-2:]]))


def is_web(url: str) -> bool:
    """Return True for an http(s) address that can be parsed and has a host."""
    try:
        url.encode()
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # such as an unclosed [, a port of letters, or half of a surrogate pair
        return False


def site(url: str) -> str:
    """Return the host and port of an address; "" without one."""
    try:
        return urlsplit(url.strip()).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def _host(host: str) -> str:
    """Return the host without www., in IDNA's letters; an IPv6 address in its brackets."""
    if ":" in host:
        return f"[{host}]"
    host = host.rstrip(".")
    with suppress(UnicodeError):  # longer than a name may be, or made of what IDNA does not know
        host = host.encode("idna").decode("ascii")
    host = host.lower()
    while host.count(".") > 1 and host.startswith("www."):
        host = host.removeprefix("www.")
    return host
