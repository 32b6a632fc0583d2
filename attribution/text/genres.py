"""The genre of a page, as far as markup, address, title and shape show it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attribution.text.urls import is_web
from attribution.types import Genre

OPENING = 6_000  # characters of a text whose shape is looked at
ARTICLE = 1_500  # characters of a text that may be an article, at the address of a front page too
LONG_LINE = 200  # characters of the average line of an article
TABLE = tomllib.loads((Path(__file__).parent / "data" / "genres.toml").read_text("utf-8"))
TYPES: dict[str, Genre] = TABLE["types"]
SITES: list[tuple[str, Genre]] = [
    (site, genre) for genre, sites in TABLE["sites"].items() for site in sites.split()
]
# Genres that count wherever a sign of them is found, the strongest first
STRONG: tuple[Genre, ...] = (
    "answer",
    "fact check",
    "social",
    "forum",
    "transcript",
    "opinion",
    "paper",
    "shop",
)


def _patterns(name: str) -> list[tuple[re.Pattern[str], Genre]]:
    return [(re.compile(pattern, re.IGNORECASE), genre) for genre, pattern in TABLE[name].items()]


ADDRESS, TITLE, LISTS = map(_patterns, ("address", "title", "lists"))
SHAPES: dict[Genre, dict[str, Any]] = TABLE["shape"]


def genre_of(url: str, title: str, text: str, types: Iterable[str] = ()) -> Genre:
    """Return the genre of a page.

    Args:
        url: Its address; only one of the web says something.
        title: Its title.
        text: Its text.
        types: The schema.org types in its markup.
    """
    marked = [genre for name, genre in TYPES.items() if name in set(types)]
    address = url if is_web(url) else ""
    for pattern, genre in LISTS:
        if pattern.search(address) and (genre == "search page" or not _is_article(text)):
            return genre
    at = list(_by_site(address))
    given = [genre for pattern, genre in ADDRESS if pattern.search(address)]
    given += [genre for pattern, genre in TITLE if pattern.search(title)]
    strong = {*at, *given, *(genre for genre in marked if genre != "shop")}
    for genre in STRONG:
        if genre in strong:
            return genre
    for genre, shape in SHAPES.items():
        lines = re.findall(shape["pattern"], text[:OPENING], re.IGNORECASE | re.MULTILINE)
        if len(lines) >= shape["least"]:
            return genre
    return next((genre for genre in (*at, *given, *marked) if genre != "unknown"), "unknown")


def _is_article(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return len(text) >= max(ARTICLE, LONG_LINE * len(lines))


def _by_site(address: str) -> Iterator[Genre]:
    parts = urlsplit(address)
    name = f".{(parts.hostname or '').lower()}"
    for site, genre in SITES:
        host, _, folder = site.partition("/")
        if name.endswith(f".{host}") and parts.path.startswith(f"/{folder}"):
            yield genre
