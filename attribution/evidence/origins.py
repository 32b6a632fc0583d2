"""Find which pages go back to one text, so that a decision counts it once.

They are copies, spellings of one address, and pages that publish the answer itself.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from attribution.text.urls import canonical
from attribution.text.words import words_of
from attribution.types import Page

WORDS = 5  # words in a shingle
SKETCH = 256  # shingles kept for a page: those with the smallest hashes (Broder 1997, section 4)
ALIKE = 0.6  # least estimated Jaccard similarity of two copies of one text
SHORT = 40  # words: shorter texts are often similar by chance, so they must be equal
FACTOR = 0x9E3779B97F4A7C15  # odd, with bits in no pattern: its powers spread the words
_LEAST_QUESTION = 12  # characters of a question that a page repeats


class _Text(NamedTuple):
    """The part of a page's text that is compared.

    Attributes:
        sketch: The smallest hashes of its shingles; of a short text the hash of all its words.
        has_answer: It holds most of the answer, and nothing else or its question too.
    """

    sketch: frozenset[int]
    has_answer: bool = False


class Origins:
    """Tells which pages of a run go back to one text. Each text is read once."""

    def __init__(self, answer: str = "", question: str = "") -> None:
        """Set what pages may publish.

        Args:
            answer: Web pages that publish it get the genre `answer`, which counts not at all.
            question: The question that it answers.
        """
        words = words_of(answer)
        shingles = _shingles(words)
        self._sketch = _sketch(words, shingles)
        self._answer = frozenset(shingles if len(words) >= SHORT else ())
        self._question = " ".join(words_of(question))
        self._texts: dict[str, _Text] = {}

    def marked(self, pages: Sequence[Page]) -> tuple[Page, ...]:
        """Return the pages with the origin of each.

        The origin is the id of the first page of those that go back to one text: the one published
        first, whatever the order of `pages`, which is kept. It is empty for a page that stands
        alone.
        """
        for page in pages:
            if page.text not in self._texts:
                self._texts[page.text] = self._read(page.text)
        ordered = sorted(pages, key=lambda page: (page.published or "9999", page.url, page.id))
        first_pages = _FirstPages()
        origins = {page.id: first_pages.origin(page, self._texts[page.text]) for page in ordered}
        sizes = Counter(origins.values())
        marked: list[Page] = []
        for page in pages:
            origin = origins[page.id]
            update: dict[str, object] = {"origin": origin if sizes[origin] > 1 else ""}
            if page.kind == "web" and self._texts[page.text].has_answer:
                update["genre"] = "answer"
            marked.append(page.model_copy(update=update))
        return tuple(marked)

    def _read(self, text: str) -> _Text:
        words = words_of(text)
        shingles = _shingles(words)
        sketch = _sketch(words, shingles)
        if len(self._answer & shingles) < max(1, ALIKE * len(self._answer)):
            return _Text(sketch)
        is_asked = len(self._question) >= _LEAST_QUESTION and self._question in " ".join(words)
        return _Text(sketch, is_asked or _alike(self._sketch, sketch))


class _FirstPages:
    """The first page of every origin so far."""

    def __init__(self) -> None:
        self._by_address: dict[str, str] = {}  # ids
        self._sketches: dict[str, frozenset[int]] = {}

    def origin(self, page: Page, text: _Text) -> str:
        """Return the id of the first page of this page's origin, which may be its own.

        Pages of one origin have an address or most of their text in common.
        """
        address = canonical(page.url)
        alike = (i for i, other in self._sketches.items() if _alike(text.sketch, other))
        origin = self._by_address.get(address) or next(alike, page.id)
        self._sketches.setdefault(origin, text.sketch)
        if page.kind == "web":
            self._by_address.setdefault(address, origin)
        return origin


def _sketch(words: Sequence[str], shingles: Collection[int]) -> frozenset[int]:
    if len(words) < SHORT:
        return frozenset([_hash(" ".join(words))] if words else ())
    return frozenset(sorted(shingles)[:SKETCH])


def _shingles(words: Sequence[str]) -> set[int]:
    """Return the hashes of all runs of WORDS words: sums of products, modulo 2**64."""
    import numpy as np

    if len(words) < WORDS:
        return set()
    hash_of = {word: _hash(word) for word in set(words)}
    hashes = np.array([hash_of[word] for word in words], dtype=np.uint64)
    factors = np.array([pow(FACTOR, n, 2**64) for n in range(1, WORDS + 1)], dtype=np.uint64)
    runs = np.lib.stride_tricks.sliding_window_view(hashes, WORDS)
    return set((runs @ factors).tolist())


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))


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
