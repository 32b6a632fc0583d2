"""Comparing addresses: which ones are of the same page, and which are on an excluded site. Not for
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
    r"utm_\w*|_?hs(enc|mi)|mc_[ce]id|[gdwmt]cl(id|src)|[gw]braid|fbclid|msclkid|yclid|twclid|igshid|igsh|_gl|_ga"
    r"|mkt_tok|vero_id|oly_(anon|enc)_id|ref_src|ref_url|cmpid|wt_mc|wickedid|srsltid|at_(medium|campaign)",
    re.IGNORECASE,
)
_OF_DEVICES = (
    "m",
    "mobile",
    "amp",
)  # host names that lead to the same site, where one owner has both


def canonical(url: str) -> str:
    """One spelling for the addresses of one page; whatever is not an http(s) address stays as it
    is.

    Scheme, default port, fragment, tracking parameters, order of parameters, last slash and www.
    make no difference.
    m. and amp. do: where names of a domain are given to anybody, they are another owner's.
    Idempotent.
    """
    try:
        url.encode()  # half of a surrogate pair is in no address
        parts = urlsplit(canonicalize_url(url.strip()))
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:  # such as an unclosed [ or a port of letters
        return url
    if parts.scheme.lower() not in ("http", "https") or host.split() != [host]:
        return url  # without a host, or with one that has a space
    query = parse_qsl(parts.query, keep_blank_values=True)
    pairs = [(name, value) for name, value in query if not _TRACKING.fullmatch(name)]
    where = host if port in (None, 80, 443) else f"{host}:{port}"
    return f"https://{where}{parts.path.rstrip('/')}" + (f"?{urlencode(pairs)}" if pairs else "")


def excluded(url: str, patterns: Iterable[str]) -> bool:
    """Return True if the address is on one of those sites or subdomains, or at or below one of
    those addresses.
    """
    own = _split(url)
    for other in _places(tuple(patterns)):
        if not (own.netloc == other.netloc or own.netloc.endswith("." + other.netloc)):
            continue
        below = own.path == other.path or own.path.startswith(other.path + "/")
        if below and other.query in ("", own.query):
            return True
    return False


@lru_cache(maxsize=64)
def _places(patterns: tuple[str, ...]) -> list[SplitResult]:
    places = [_split(pattern if "://" in pattern else f"https://{pattern}") for pattern in patterns]
    return [place for place in places if place.netloc]


def publisher(url: str) -> str:
    """Return the host that the pages of one publisher share, for all devices; empty where an
    address has none.
    """
    return _split(url).netloc


def _split(url: str) -> SplitResult:
    """The parts of an address, as `canonical` spells it, of a site for all devices; empty where it
    cannot be parsed.
    """
    try:
        parts = urlsplit(canonical(url))
    except ValueError:  # such as an unclosed [
        return urlsplit("")
    labels = parts.netloc.split(".")
    kept = [label for label in labels[:-2] if label not in _OF_DEVICES]
    return parts._replace(netloc=".".join([*kept, *labels[-2:]]))


def is_web(url: str) -> bool:
    """Return True for an http(s) address that can be parsed and has a host."""
    try:
        url.encode()
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # such as an unclosed [, a port of letters, or half of a surrogate pair
        return False


def site(url: str) -> str:
    """Host and port of an address; empty where it has none."""
    try:
        return urlsplit(url.strip()).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def _host(host: str) -> str:
    """The host without www., in IDNA's letters; an IPv6 address in its brackets."""
    if ":" in host:
        return f"[{host}]"
    host = host.rstrip(".")
    with suppress(UnicodeError):  # longer than a name may be, or made of what IDNA does not know
        host = host.encode("idna").decode("ascii")
    labels = host.lower().split(".")
    while len(labels) > 2 and labels[0] == "www":
        labels = labels[1:]
    return ".".join(labels)
