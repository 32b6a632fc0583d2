"""Find which pages go back to one text, so that a decision counts it once.

They are copies, mirrors, and pages that publish the answer itself.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache

from attribution.text.urls import canonical, site
from attribution.types import Genre, Page

WORDS = 5  # words in a shingle
SKETCH = 256  # shingles kept for a page: those with the smallest hashes (Broder 1997, section 4)
ALIKE = 0.6  # least estimated Jaccard similarity of two copies of one text
SHORT = 40  # words: shorter texts are often similar by chance, so they must be equal
_WORD = re.compile(r"\w+")
_LEAST_QUESTION = 12  # characters of a question that a page repeats
_WIKIPEDIA = re.compile(
    r"//(\w+)\.(?:m\.)?wikipedia\.org/wiki/([^?#]+)"
    r"|//(?:www\.)?wikiwand\.com/(\w+)/(?:articles/)?([^?#]+)"
)
_OWN_SITE: tuple[Genre, ...] = ("unknown", "answer")


def with_origins(pages: Sequence[Page], answer: str = "", question: str = "") -> tuple[Page, ...]:
    """Set the origin of each page.

    The origin is the id of the first page of those that go back to one text: the one published
    first, whatever the order of `pages`, which is kept. It is empty for a page that stands alone.

    Args:
        pages: The pages of a run.
        answer: Web pages that publish it, and others of the same unknown site, get the genre
            `answer`, which counts not at all.
        question: The question that it answers.
    """
    ordered = sorted(pages, key=lambda page: (page.published or "9999", page.url, page.id))
    first_pages = _FirstPages()
    origins = {page.id: first_pages.origin(page) for page in ordered}
    sizes = Counter(origins.values())
    publishing = _publishing(ordered, answer, question)
    marked: list[Page] = []
    for page in pages:
        origin = origins[page.id]
        update: dict[str, object] = {"origin": origin if sizes[origin] > 1 else ""}
        if page.id in publishing:
            update["genre"] = "answer"
        marked.append(page.model_copy(update=update))
    return tuple(marked)


class _FirstPages:
    """The first page of every origin so far."""

    def __init__(self) -> None:
        self._by_key: dict[Hashable, str] = {}  # ids by what pages of one origin share
        self._sketches: dict[str, frozenset[int]] = {}

    def origin(self, page: Page) -> str:
        """Return the id of the first page of this page's origin, which may be its own."""
        sketch = _sketch(page.text)
        keys = list(_shared(page))
        known = [self._by_key[key] for key in keys if key in self._by_key]
        origin = known[0] if known else self._alike(sketch)
        if not origin:
            origin = page.id
            self._sketches[origin] = sketch
        for key in keys:
            self._by_key.setdefault(key, origin)
        return origin

    def _alike(self, sketch: frozenset[int]) -> str:
        """Return the id of the first page whose text is a copy of this; empty if there is none."""
        alike = (i for i, other in self._sketches.items() if _alike(sketch, other))
        return next(alike, "")


def sources(pages: Iterable[Page]) -> str:
    """Say how many pages these are and, if fewer, of how many origins: "3 pages, 1 origin"."""
    by_id = {page.id: page.origin or page.id for page in pages}
    count, origins = len(by_id), len(set(by_id.values()))
    words = f"{count} page{'s' * (count != 1)}"
    return words if count == origins else f"{words}, {origins} origin{'s' * (origins != 1)}"


def _shared(page: Page) -> Iterator[Hashable]:
    """Yield what pages of one origin have in common beside their text: an address, an article."""
    if page.kind != "web":
        return
    yield "address", canonical(page.url)
    match = _WIKIPEDIA.search(page.url)
    if match:
        yield "wikipedia", match[1] or match[3], (match[2] or match[4]).replace("%20", "_")


def _publishing(pages: Sequence[Page], answer: str, question: str) -> set[str]:
    """Return the ids of web pages that publish an answer.

    They hold nothing else, or hold it together with its question, or are of the same site.
    """
    words = _words(answer)
    if len(words) < SHORT:
        return set()
    sketch, wanted, asked = _sketch(answer), _shingles(words), " ".join(_words(question))
    on_web = [page for page in pages if page.kind == "web"]
    ids: set[str] = set()
    sites: set[str] = set()
    for page in on_web:
        page_words = _words(page.text)
        if len(wanted & _shingles(page_words)) < ALIKE * len(wanted):
            continue
        has_question = len(asked) >= _LEAST_QUESTION and asked in " ".join(page_words)
        if has_question or _alike(sketch, _sketch(page.text)):
            ids.add(page.id)
            sites.add(site(page.url))
    return ids | {p.id for p in on_web if site(p.url) in sites and p.genre in _OWN_SITE}


@lru_cache(maxsize=64)  # the pages of a run, which its edits and comparisons ask for again
def _sketch(text: str) -> frozenset[int]:
    words = _words(text)
    if len(words) < SHORT:
        return frozenset([_hash(words)] if words else ())
    return frozenset(sorted(_shingles(words))[:SKETCH])


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _shingles(words: Sequence[str]) -> set[int]:
    return {_hash(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)}


def _hash(words: Iterable[str]) -> int:
    text = " ".join(words).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest())


def _alike(one: frozenset[int], two: frozenset[int]) -> bool:
    """Return True if the estimated Jaccard similarity of two texts reaches ALIKE.

    The estimate is the share that their sketches have in common of the smallest hashes of both.
    """
    both = one & two
    compared = min(SKETCH, max(len(one), len(two)))
    if not both or len(both) < ALIKE * compared:
        return False
    smallest = sorted(one | two)[:compared]
    return sum(shingle in both for shingle in smallest) >= ALIKE * compared
