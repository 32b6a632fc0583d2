"""The genre of a page, as far as markup, address and title show it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from attribution.text.urls import is_web
from attribution.types import Genre

ARTICLE = 1_500  # characters of a text that may be an article, at the address of a front page too
LONG_LINE = 200  # characters of the average line of an article
TABLE = tomllib.loads((Path(__file__).parent / "data" / "genres.toml").read_text("utf-8"))
TYPES: dict[str, Genre] = TABLE["types"]
# Genres that count wherever a sign of them is found, the strongest first
STRONG: tuple[Genre, ...] = (
    "answer",
    "fact check",
    "social",
    "forum",
    "transcript",
    "opinion",
    "paper",
)


def _patterns(name: str) -> list[tuple[re.Pattern[str], Genre]]:
    return [(re.compile(pattern, re.IGNORECASE), genre) for genre, pattern in TABLE[name].items()]


ADDRESS, TITLE, LISTS = map(_patterns, ("address", "title", "lists"))


def genre_of(url: str, title: str, text: str, types: Iterable[str] = ()) -> Genre:
    """Return the genre of a page of the web; that of a document is unknown.

    Args:
        url: Its address.
        title: Its title.
        text: Its text.
        types: The schema.org types in its markup.
    """
    if not is_web(url):
        return "unknown"
    for pattern, genre in LISTS:
        if pattern.search(url) and (genre == "search page" or not _is_article(text)):
            return genre
    named = [*_by_site(url)]
    named += [genre for pattern, genre in ADDRESS if pattern.search(url)]
    named += [genre for pattern, genre in TITLE if pattern.search(title)]
    named += [genre for name, genre in TYPES.items() if name in set(types)]
    ranked = (genre for genre in (*STRONG, *named) if genre in named and genre != "unknown")
    return next(ranked, "unknown")


def _is_article(text: str) -> bool:
    lines = re.findall(r"\S.*", text)
    return len(text) >= max(ARTICLE, LONG_LINE * len(lines))


def _by_site(address: str) -> Iterator[Genre]:
    parts = urlsplit(address)
    name = f".{(parts.hostname or '').lower()}"
    for genre, sites in TABLE["sites"].items():
        for site in sites.split():
            host, _, folder = site.partition("/")
            if name.endswith(f".{host}") and parts.path.startswith(f"/{folder}"):
                yield genre
