"""Addresses of foreign pages: which of them may be followed, and how they open at a sentence."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

_UNSAFE = re.compile(r"[\x00-\x20\x7f-\x9f\\<>\"'`{}|^\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def safe_url(url: str) -> str | None:
    """The address if a browser may follow it (http or https with a host), else None."""
    url = url.strip(" \t\r\n")
    if _UNSAFE.search(url):
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return None
    return url


def _directive(text: str) -> str:
    """Percent-encoded for a text fragment, in which `-`, `,` and `&` have a meaning."""
    return quote(text, safe="").replace("-", "%2D")


def link_to_sentence(url: str, sentence: str, *, longest: int = 120) -> str | None:
    """The address, opened at the sentence by a text fragment; a long sentence is named by its first and last words."""
    safe = safe_url(url)
    if safe is None:
        return None
    words = sentence.split()
    if not words:
        return safe
    whole = " ".join(words)
    if len(whole) <= longest or len(words) < 8:
        directive = _directive(whole)
    else:
        directive = f"{_directive(' '.join(words[:4]))},{_directive(' '.join(words[-4:]))}"
    base, mark, fragment = safe.partition("#")
    fragment = fragment.partition(":~:")[0]
    return f"{base}#{fragment}:~:text={directive}" if mark else f"{base}#:~:text={directive}"
