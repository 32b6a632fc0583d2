"""Addresses compared: which ones name the same page, and which lie on an excluded site. For keys, not for fetching."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

_TRACKING = re.compile(
    r"utm_\w*|_?hs(enc|mi)|mc_[ce]id|[gdwmt]cl(id|src)|[gw]braid|fbclid|msclkid|yclid|twclid|igshid|igsh|_gl|_ga"
    r"|mkt_tok|vero_id|oly_(anon|enc)_id|ref_src|ref_url|cmpid|wt_mc|wickedid|srsltid|at_(medium|campaign)",
    re.IGNORECASE,
)
_DOORS = ("www", "m", "mobile", "amp")  # host names that lead to the same site
_SAFE = "/:@!$&'()*+,;=-._~"


def canonical(url: str) -> str:
    """One spelling for the addresses of one page; what is no http(s) address stays as it is.

    Scheme, default port, fragment, tracking parameters, order of parameters, trailing slash and www, m. and mobile.
    hosts make no difference. Idempotent.
    """
    try:
        url.encode()  # half of a surrogate pair is in no address
        parts = urlsplit(url.strip())
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:  # such as an unclosed [ or a port of letters
        return url
    if parts.scheme.lower() not in ("http", "https") or not host:
        return url
    path = quote(unquote(parts.path, errors="surrogateescape"), _SAFE, errors="surrogateescape")
    if "%2f" in parts.path.lower() or "%25" in parts.path.lower():  # what stands for itself must not be unpacked twice
        path = re.sub(r"%[0-9a-fA-F]{2}", lambda m: m[0].upper(), quote(parts.path, _SAFE + "%"))
    pairs = sorted(
        (name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.fullmatch(name)
    )
    where = host if port in (None, 80, 443) else f"{host}:{port}"
    return f"https://{where}{path.rstrip('/')}" + (f"?{urlencode(pairs)}" if pairs else "")


def excluded(url: str, patterns: Iterable[str]) -> bool:
    """Whether an address lies on one of those sites or their subdomains, or at or below one of those addresses."""
    own = urlsplit(canonical(url))
    for pattern in patterns:
        other = urlsplit(canonical(pattern if "://" in pattern else f"https://{pattern}"))
        if not other.netloc or not (own.netloc == other.netloc or own.netloc.endswith("." + other.netloc)):
            continue
        below = own.path == other.path or own.path.startswith(other.path + "/")
        if below and other.query in ("", own.query):
            return True
    return False


def site(url: str) -> str:
    """Host and port of an address, as one that is asked; empty where there is none."""
    try:
        return urlsplit(url.strip()).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def _host(host: str) -> str:
    """Without its doors, in the letters the network uses; an IPv6 address in its brackets."""
    if ":" in host:
        return f"[{host}]"
    with suppress(UnicodeError):  # longer than a name may be, or made of what IDNA does not know
        host = host.encode("idna").decode("ascii")
    labels = host.lower().rstrip(".").split(".")
    while len(labels) > 2 and labels[0] in _DOORS:
        labels = labels[1:]
    return ".".join(label for i, label in enumerate(labels) if label != "m" or i == 0 or i >= len(labels) - 2)
