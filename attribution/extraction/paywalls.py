"""Why a web page has so little text: it is behind a paywall, drawn by JavaScript, or simply empty."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from attribution.errors import FetchFailed

TEASER = 1_500  # characters: a shorter text may be only the beginning of an article …
NOTICE = 300  # … and one shorter than this only a notice
_SCANNED = 20_000  # characters of a script that are searched

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


@dataclass(frozen=True)
class Signs:
    """What a page's own marks say of its text."""

    paid: bool = False  # not accessible for free
    scripted: bool = False  # it runs scripts
    needs_scripts: bool = False  # it asks for JavaScript, or is an empty shell that scripts fill

    def failure(self, text: str, address: str) -> FetchFailed | None:
        """Why so little was extracted, if the text is short and the signs explain it: paywall or needs_javascript."""
        short = text.strip()
        advice = "open it in a browser and add its text as a document"
        if len(short) < TEASER and (self.paid or _SUBSCRIBE.search(short)):
            return FetchFailed("paywall", f"{address} shows its text to subscribers only; {advice}", address)
        blank = not short and (self.scripted or self.needs_scripts)
        if blank or len(short) < NOTICE and (self.needs_scripts or _ENABLE.search(short)):
            message = f"{address} shows its text only with JavaScript, which is not run here; {advice}"
            return FetchFailed("needs_javascript", message, address)
        return None


def read_signs(tree: Any) -> Signs:
    """The signs of an lxml tree, read before extraction removes the elements that carry them."""
    paid = scripted = needs_scripts = False
    for element in tree.iter("script", "meta", "noscript", "div"):
        if element.tag == "script":
            text = (element.text or "")[:_SCANNED]
            paid = paid or ("json" in (element.get("type") or "") and bool(_NOT_FREE.search(text)))
            scripted = scripted or bool(element.get("src") or text.strip())
        elif element.tag == "meta":
            tier = (element.get("property") or element.get("name") or "").endswith("content_tier")
            paid = paid or (tier and (element.get("content") or "").strip().lower() in ("locked", "metered"))
        elif element.tag == "noscript":
            needs_scripts = needs_scripts or bool(_ENABLE.search("".join(element.itertext())[:_SCANNED]))
        elif element.get("id") in _SHELLS and len(element) == 0 and not (element.text or "").strip():
            needs_scripts = True
    return Signs(paid, scripted, needs_scripts)
