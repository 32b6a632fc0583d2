"""Read what a page's markup says about it: schema.org types, a fact check's verdict, and why its
text may be missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attribution.errors import FetchFailed

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_SCRIPT = 100_000  # characters of JSON metadata: trafilatura searches it with slow patterns
MAX_TYPES = 12
MAX_DEPTH = 6  # of objects in one another
MAX_TEXT = 300  # characters of a claim or a verdict
MAX_TEASER = 1_500  # characters: a shorter text may be only the beginning of an article …
MAX_NOTICE = 300  # … and one shorter than this only a notice
_MAIN = ("@graph", "mainEntity")  # whose objects say what the page is; others speak of its parts
_LOCKED = (
    "//meta[contains(concat(@property, @name), 'content_tier')]"
    "[@content='locked' or @content='metered']"
)
_SHELL = (  # an empty element that scripts fill
    "//div[not(*)][not(normalize-space())][@id='app' or @id='root' or @id='__next' or @id='__nuxt'"
    " or @id='react-root' or @id='svelte' or @id='main-app']"
)
_NOT_FREE = re.compile(
    r"[\"']?isAccessibleForFree[\"']?\s*:\s*[\"']?(?:https?://schema\.org/)?false", re.IGNORECASE
)
_SUBSCRIBE = re.compile(
    r"""\b(?:subscribe|log\ in|sign\ in|sign\ up|become\ a\ (?:member|subscriber))\b
        .{0,40}\b(?:to\ (?:continue|keep)\ reading|to\ read\ (?:the\ (?:full|rest)|more|on|this)
                   |for\ (?:full|unlimited)\ access)
      | \bfor\ subscribers\ only\b
      | \bto\ continue\ reading\b.{0,40}\b(?:subscribe|log\ in|sign\ in|register)
      | \b(?:subscriber|member)-only\b""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_NEEDS_SCRIPTS = re.compile(
    r"""\b(?:enable|turn\ on|activate|requires?|needs?|without)\s+(?:\w+\s+){0,2}java\s?script
      | java\s?script\b.{0,40}\b(?:is\ (?:disabled|required|not\ enabled|turned\ off)
                                  |must\ be\ enabled)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


@dataclass
class Markup:
    """What the markup of a page says.

    Attributes:
        types: Its schema.org types.
        reviewed: The claim that a fact check is about.
        rating: The fact check's verdict on it.
        is_paid: It is not accessible for free.
        has_scripts: It runs scripts.
        needs_scripts: It asks for JavaScript, or is an empty shell that scripts fill.
    """

    types: tuple[str, ...] = ()
    reviewed: str = ""
    rating: str = ""
    is_paid: bool = False
    has_scripts: bool = False
    needs_scripts: bool = False

    def failure(self, text: str, address: str) -> FetchFailed | None:
        """Return why so little text was found: paywall or needs_javascript."""
        text = text.strip()
        advice = "open it in a browser and add its text as a document"
        if len(text) < MAX_TEASER and (self.is_paid or _SUBSCRIBE.search(text)):
            message = f"{address} shows its text to subscribers only; {advice}"
            return FetchFailed("paywall", message, address)
        is_notice = self.needs_scripts or _NEEDS_SCRIPTS.search(text)
        is_empty = not text and self.has_scripts
        if is_empty or (len(text) < MAX_NOTICE and is_notice):
            message = f"{address} needs JavaScript to show its text, which is not run; {advice}"
            return FetchFailed("needs_javascript", message, address)
        return None


def read_markup(tree: HtmlElement) -> Markup:
    """Read an lxml tree, before extraction removes metadata."""
    notices = "\n".join(tree.xpath("//noscript//text()"))
    markup = Markup(
        is_paid=bool(tree.xpath(_LOCKED)),
        has_scripts=bool(tree.xpath("//script[@src or normalize-space()]")),
        needs_scripts=bool(tree.xpath(_SHELL) or _NEEDS_SCRIPTS.search(notices[:MAX_SCRIPT])),
    )
    types: list[Any] = []
    size = 0
    for script in tree.xpath("//script[contains(@type, 'json')]"):
        text = script.text or ""
        size += len(text)
        if size > MAX_SCRIPT:
            break
        markup.is_paid = markup.is_paid or _NOT_FREE.search(text) is not None
        for item in _items(_parse_json(text), MAX_DEPTH):
            named = item.get("@type")
            types += named if isinstance(named, list) else [named]
            rating = item.get("reviewRating")
            if "claimReviewed" in item and isinstance(rating, dict) and not markup.rating:
                markup.reviewed = _one_line(item["claimReviewed"])
                # its number says nothing without the scale
                markup.rating = _one_line(rating.get("alternateName") or rating.get("name"))
    types += tree.xpath("//@itemtype")
    names = [name.rstrip("/").rpartition("/")[2][:60] for name in types if isinstance(name, str)]
    markup.types = tuple(dict.fromkeys(filter(None, names)))[:MAX_TYPES]
    return markup


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return None


def _items(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Yield the objects that say what the page is."""
    if isinstance(value, list) and depth:
        for item in value:
            yield from _items(item, depth - 1)
    elif isinstance(value, dict):
        yield value
        for name in _MAIN if depth else ():
            yield from _items(value.get(name), depth - 1)


def _one_line(value: Any) -> str:
    return " ".join(value.split())[:MAX_TEXT] if isinstance(value, str) else ""
