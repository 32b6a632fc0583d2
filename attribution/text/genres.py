"""The genre of a page: its kind of publisher, as far as markup, address, title and shape show it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from attribution.types import Genre

PROSE = 1_500  # characters of a text that may be an article, even at the address of a front page
_LINES = 200  # at least so many characters in the average line of an article

_TABLE = tomllib.loads((Path(__file__).parent / "data" / "genres.toml").read_text("utf-8"))
_TYPES: dict[str, Genre] = _TABLE["types"]
_Patterns = list[tuple[re.Pattern[str], Genre]]
_ADDRESS: _Patterns = [
    (re.compile(pattern, re.IGNORECASE), genre) for genre, pattern in _TABLE["address"].items()
]
_TITLE: _Patterns = [
    (re.compile(pattern, re.IGNORECASE), genre) for genre, pattern in _TABLE["title"].items()
]
_HOSTS: tuple[tuple[str, str, Genre], ...] = tuple(
    (host, path, genre)
    for genre, sites in _TABLE["sites"].items()
    for host, _, path in (site.partition("/") for site in sites.split())
)
_SEARCH = re.compile(
    r"/(?:search|suche|recherche|serp)(?:[/.?]|$)|[?&](?:q|query|search|search_query)=", re.I
)
_FRONT = re.compile(r"/?(?:index\.\w+|home|[a-z]{2}(?:-[a-z]{2})?)?/?", re.I)
_LISTING = re.compile(r"/(?:tags?|category|categories|authors?)/[^/]*/?", re.I)
_NEWS_NAME = re.compile(
    r"(?:news|times|post|herald|tribune|gazette|chronicle|courier|observer|zeitung)\d*\."
)
_SPEAKER = re.compile(r"^[A-Z][A-Z.'’ -]{2,40}(?:, [^:\n]{2,60})?:\s", re.M)
_LETTER = re.compile(r"^\s*(?:to the editor|dear (?:editor|sir))\b", re.I | re.M)
_POSTS = re.compile(
    r"^\W*(?:posted by\b|quote:|re: |\d+ (?:replies|upvotes|points)\b|joined: )", re.I | re.M
)


def genre_of(url: str, title: str, text: str, types: Iterable[str] = ()) -> Genre:
    """Return the genre of a page; `types` are the schema.org types in its markup."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an unclosed [
        parts = SplitResult("", "", "", "", "")
    web = parts.scheme in ("http", "https") and bool(parts.hostname)
    found = set(types)
    if "ClaimReview" in found:
        return "fact check"
    if web and (shape := _list_of_pages(parts, url, text)):
        return shape
    given = [g for pattern, g in _ADDRESS if pattern.search(url)] if web else []
    given += [g for pattern, g in _TITLE if pattern.search(title)]
    at = _by_site((parts.hostname or "").lower(), parts.path) if web else "unknown"
    marked: Genre = next((genre for name, genre in _TYPES.items() if name in found), "unknown")
    strong: Sequence[Genre] = (
        "answer",
        "fact check",
        "social",
        "forum",
        "transcript",
        "opinion",
        "paper",
        "shop",
    )
    for genre in strong:
        if genre == at or genre in given or (genre == marked and genre != "shop"):
            return genre
    if _LETTER.search(text[:PROSE]):
        return "opinion"
    if len(_SPEAKER.findall(text[: 4 * PROSE])) >= 4:
        return "transcript"
    if len(_POSTS.findall(text[: 4 * PROSE])) >= 3:
        return "forum"
    if at != "unknown":
        return at
    if given:
        return given[0]
    if marked != "unknown":
        return marked
    return "news" if web and _NEWS_NAME.search((parts.hostname or "").lower()) else "unknown"


def _list_of_pages(parts: SplitResult, url: str, text: str) -> Genre | None:
    """Return whether an address is one of search results or of a front page; long prose is an
    article all the same.
    """
    if _SEARCH.search(url):
        return "search page"
    if parts.query or not (_FRONT.fullmatch(parts.path) or _LISTING.fullmatch(parts.path)):
        return None
    lines = [line for line in text.split("\n") if line.strip()]
    article = len(text) >= PROSE and len(text) >= _LINES * len(lines)
    return None if article else "front page"


def _by_site(host: str, path: str) -> Genre:
    for site, folder, genre in _HOSTS:
        if (host == site or host.endswith(f".{site}")) and path.startswith(f"/{folder}"):
            return genre
    return "unknown"
