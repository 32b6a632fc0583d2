"""Why a web page shows so little text: behind a paywall, drawn by JavaScript, or simply empty."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from attribution.errors import FetchFailed

TEASER = 1_500  # characters: a page of which less can be read may be no more than the beginning of an article
NOTICE = 300  # characters: less may be no more than a notice
_SCANNED = 20_000  # characters of a script looked at

_NOT_FREE = re.compile(r"[\"']?isAccessibleForFree[\"']?\s*:\s*[\"']?(?:https?://schema\.org/)?false", re.IGNORECASE)
_SUBSCRIBE = re.compile(
    r"\b(?:subscribe|log in|sign in|sign up|become a (?:member|subscriber))\b.{0,40}\b(?:to (?:continue|keep) reading"
    r"|to read (?:the (?:full|rest)|more|on|this)|for (?:full|unlimited) access)|\bfor subscribers only\b"
    r"|\bto continue reading\b.{0,40}\b(?:subscribe|log in|sign in|register)|\b(?:subscriber|member)-only\b",
    re.IGNORECASE | re.DOTALL,
)
_ENABLE = re.compile(
    r"\b(?:enable|turn on|activate|requires?|needs?|without)\s+(?:\w+\s+){0,2}java\s?script|java\s?script\b.{0,40}\b(?:"
    r"is (?:disabled|required|not enabled|turned off)|must be enabled)",
    re.IGNORECASE | re.DOTALL,
)
_SHELLS = {"app", "root", "__next", "__nuxt", "react-root", "svelte", "main-app"}


def why_so_little(tree: Any) -> Callable[[str, str], FetchFailed | None]:
    """What the page's own marks say, read before extraction cleans them away: (text, address) → the failure, if any."""
    paid = locked = drawn = asks = False
    for element in tree.iter("script", "meta", "noscript", "div"):
        if element.tag == "script":
            text = (element.text or "")[:_SCANNED]
            paid = paid or ("json" in (element.get("type") or "") and bool(_NOT_FREE.search(text)))
            drawn = drawn or bool(element.get("src") or text.strip())
        elif element.tag == "meta":
            tier = (element.get("property") or element.get("name") or "").endswith("content_tier")
            locked = locked or (tier and (element.get("content") or "").strip().lower() in ("locked", "metered"))
        elif element.tag == "noscript":
            asks = asks or bool(_ENABLE.search("".join(element.itertext())[:_SCANNED]))
        elif element.get("id") in _SHELLS and len(element) == 0 and not (element.text or "").strip():
            asks = True

    def judge(text: str, address: str) -> FetchFailed | None:
        short = text.strip()
        if len(short) < TEASER and (paid or locked or _SUBSCRIBE.search(short)):
            return FetchFailed(
                "paywall",
                f"{address} shows its text to subscribers only; open it in a browser and add its text as a document",
                address,
            )
        if (not short and (drawn or asks)) or (len(short) < NOTICE and (asks or _ENABLE.search(short))):
            return FetchFailed(
                "needs_javascript",
                f"{address} shows its text only through JavaScript, which is not run here; open it in a browser and "
                "add its text as a document",
                address,
            )
        return None

    return judge
