"""Find which pages go back to one text, so that a decision counts it once: copies, mirrors,
the answer.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
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
    """Set `origin` to the id of the first page of those with one origin; empty for a page that
    stands alone.

    The first page is the one published first, whatever the order of `pages`, which is kept. Web
    pages that publish the answer itself, and others of the same unknown site, get the genre
    `answer`, which counts not at all.
    """
    ordered = sorted(pages, key=lambda page: (page.published or "9999", page.url, page.id))
    first: dict[Hashable, str] = {}  # the id of the first page by what it shares with the others
    sketches: dict[str, frozenset[int]] = {}  # of first pages
    holding: dict[int, list[str]] = defaultdict(list)  # first pages by the hashes that they hold
    origin: dict[str, str] = {}
    for page in ordered:
        sketch, keys = _sketch(page.text), [*_shared(page)]
        known = next((first[key] for key in keys if key in first), None)
        if known is None:
            common = Counter(i for h in sketch for i in holding[h])
            known = next((i for i in sketches if i in common and _alike(sketch, sketches[i])), None)
        if known is None:
            known, sketches[page.id] = page.id, sketch
            for h in sketch:
                holding[h].append(page.id)
        for key in keys:
            first.setdefault(key, known)
        origin[page.id] = known
    sizes = Counter(origin.values())
    own = _own(ordered, answer, question)
    return tuple(
        page.model_copy(
            update={"origin": origin[page.id] if sizes[origin[page.id]] > 1 else ""}
            | ({"genre": "answer"} if page.id in own else {})
        )
        for page in pages
    )


def sources(pages: Iterable[Page]) -> str:
    """Say how many pages these are and, if fewer, of how many origins: "3 pages, 1 origin"."""
    by_id = {page.id: page.origin or page.id for page in pages}
    counts = (len(by_id), "page"), (len(set(by_id.values())), "origin")
    words = [f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts]
    return words[0] if counts[0][0] == counts[1][0] else ", ".join(words)


def _shared(page: Page) -> Iterable[Hashable]:
    """Yield what pages of one origin have in common beside their text: an address, an article."""
    if page.kind != "web":
        return
    yield "address", canonical(page.url)
    if found := _WIKIPEDIA.search(page.url):
        yield "wikipedia", found[1] or found[3], (found[2] or found[4]).replace("%20", "_")


def _own(pages: Sequence[Page], answer: str, question: str) -> set[str]:
    """Return the ids of web pages that publish this answer: nothing else, or together with its
    question.
    """
    words = _words(answer)
    if len(words) < SHORT:
        return set()
    sketch, wanted, asked = _sketch(answer), _shingles(words), " ".join(_words(question))
    found = set()
    for page in (page for page in pages if page.kind == "web"):
        own = _words(page.text)
        held = len(wanted & _shingles(own)) >= ALIKE * len(wanted)
        if held and (
            _alike(sketch, _sketch(page.text))
            or (len(asked) >= _LEAST_QUESTION and asked in " ".join(own))
        ):
            found.add(page.id)
    sites = {site(page.url) for page in pages if page.id in found}
    return found | {
        p.id for p in pages if p.kind == "web" and site(p.url) in sites and p.genre in _OWN_SITE
    }


@lru_cache(maxsize=1024)  # the same pages recur in edits, comparisons and later runs
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
    return int.from_bytes(
        hashlib.blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=8).digest()
    )


def _alike(one: frozenset[int], two: frozenset[int]) -> bool:
    """Return True if the estimated Jaccard similarity, the share of smallest hashes in common,
    reaches ALIKE.
    """
    both, compared = one & two, min(SKETCH, max(len(one), len(two)))
    if not both or len(both) < ALIKE * compared:
        return False
    return sum(h in both for h in sorted(one | two)[:compared]) >= ALIKE * compared
