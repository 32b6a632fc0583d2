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
_SHELL_IDS = {"app", "root", "__next", "__nuxt", "react-root", "svelte", "main-app"}
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
    markup = Markup()
    types: dict[str, None] = {}
    size = 0
    for script in tree.iter("script"):
        text = script.text or ""
        markup.has_scripts = markup.has_scripts or bool(script.get("src") or text.strip())
        size += len(text) if "json" in (script.get("type") or "") else 0
        if "json" not in (script.get("type") or "") or size > MAX_SCRIPT:
            continue
        markup.is_paid = markup.is_paid or _NOT_FREE.search(text) is not None
        for item in _items(_parse_json(text), MAX_DEPTH):
            types.update(dict.fromkeys(_types(item)))
            if "claimReviewed" in item and not markup.rating:
                markup.reviewed = _one_line(item["claimReviewed"])
                markup.rating = _verdict(item.get("reviewRating"))
    for element in tree.xpath("//*[@itemtype]"):
        types[_type_name(element.get("itemtype"))] = None
    markup.types = tuple(name for name in types if name)[:MAX_TYPES]
    markup.is_paid = markup.is_paid or any(map(_is_locked, tree.iter("meta")))
    markup.needs_scripts = any(map(_asks_for_scripts, tree.iter("noscript", "div")))
    return markup


def _is_locked(meta: HtmlElement) -> bool:
    name = meta.get("property") or meta.get("name") or ""
    content = (meta.get("content") or "").strip().lower()
    return name.endswith("content_tier") and content in ("locked", "metered")


def _asks_for_scripts(element: HtmlElement) -> bool:
    if element.tag == "noscript":
        return _NEEDS_SCRIPTS.search("".join(element.itertext())[:MAX_TEASER]) is not None
    is_empty = len(element) == 0 and not (element.text or "").strip()
    return is_empty and element.get("id") in _SHELL_IDS


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


def _types(item: dict[str, Any]) -> list[str]:
    value = item.get("@type")
    names = value if isinstance(value, list) else [value]
    return [_type_name(name) for name in names if isinstance(name, str)]


def _type_name(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2][:60]


def _one_line(value: Any) -> str:
    return " ".join(value.split())[:MAX_TEXT] if isinstance(value, str) else ""


def _verdict(rating: Any) -> str:
    """Return the words of a rating; its number says nothing without the scale."""
    if not isinstance(rating, dict):
        return ""
    return _one_line(rating.get("alternateName") or rating.get("name"))
