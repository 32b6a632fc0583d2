"""Read what a page's markup says about it: its schema.org types, and the claim and verdict of a
fact check.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_SCRIPT = 100_000  # characters of JSON metadata read; trafilatura searches it with slow patterns
_TYPES = 12
_DEPTH = 6  # of objects in one another
_LONGEST = 300  # characters of a claim or a verdict
_MAIN = ("@graph", "mainEntity")  # whose objects say what the page is; others speak of its parts


@dataclass(frozen=True)
class Markup:
    """The schema.org types of a page, and for a fact check what it reviewed and how it rated it."""

    types: tuple[str, ...] = ()
    reviewed: str = ""
    rating: str = ""


def read_markup(tree: HtmlElement) -> Markup:
    """Read the JSON-LD and the microdata of an lxml tree, before extraction removes them."""
    types: dict[str, None] = {}
    reviewed = rating = ""
    read = 0
    for script in tree.iter("script"):
        if "ld+json" not in (script.get("type") or ""):
            continue
        read += len(script.text or "")
        if read > MAX_SCRIPT:
            break
        for item in _items(_parsed(script.text or ""), _DEPTH):
            own = item.get("@type")
            types |= dict.fromkeys(
                _name(t) for t in (own if isinstance(own, list) else [own]) if isinstance(t, str)
            )
            if not rating and "claimReviewed" in item:
                reviewed, rating = _text(item["claimReviewed"]), _verdict(item.get("reviewRating"))
    types |= dict.fromkeys(_name(e.get("itemtype") or "") for e in tree.xpath("//*[@itemtype]"))
    return Markup(tuple(t for t in types if t)[:_TYPES], reviewed, rating)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return None


def _items(found: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Yield the objects that say what the page is."""
    if isinstance(found, list) and depth:
        for one in found:
            yield from _items(one, depth - 1)
    elif isinstance(found, dict):
        yield found
        for name in _MAIN if depth else ():
            yield from _items(found.get(name), depth - 1)


def _name(type_: str) -> str:
    return type_.rstrip("/").rpartition("/")[2][:60]


def _text(value: Any) -> str:
    return " ".join(value.split())[:_LONGEST] if isinstance(value, str) else ""


def _verdict(rating: Any) -> str:
    """The words of a rating; its number says nothing without the scale, which many pages turn
    around.
    """
    return (
        _text(rating.get("alternateName") or rating.get("name")) if isinstance(rating, dict) else ""
    )
