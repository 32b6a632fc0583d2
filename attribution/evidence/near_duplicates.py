"""Pages that carry the same text on several sites: one origin, however often it was copied."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from attribution.types import Page

WORDS = 5  # of a shingle
SKETCH = 256  # shingles kept of a page: those with the least hashes (Broder 1997, section 4)
ALIKE = 0.6  # share of shingles (estimated Jaccard) from which on two texts are one
SHORT = 40  # words: of less text a chance likeness is likely, so it must be the same
_WORD = re.compile(r"\w+")


def with_origins(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages in their order; `origin` is the id of the first page of a group of alike ones, else empty.

    Which page is first depends on the pages alone.
    """
    ordered = sorted(pages, key=lambda page: (page.published or "9999", page.url, page.id))
    sketches = {page.id: _sketch(page.text) for page in ordered}
    groups: list[list[Page]] = []
    for page in ordered:
        for group in groups:
            if _alike(sketches[page.id], sketches[group[0].id]):
                group.append(page)
                break
        else:
            groups.append([page])
    origin = {page.id: group[0].id for group in groups if len(group) > 1 for page in group}
    return tuple(page.model_copy(update={"origin": origin.get(page.id, "")}) for page in pages)


def _sketch(text: str) -> frozenset[int]:
    words = _WORD.findall(text.casefold())
    if len(words) < SHORT:
        return frozenset([_hash(words)] if words else ())
    return frozenset(sorted({_hash(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)})[:SKETCH])


def _hash(words: Iterable[str]) -> int:
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=8).digest())


def _alike(one: frozenset[int], two: frozenset[int]) -> bool:
    """Whether the share of the smallest shingles of both together that each of them has reaches ALIKE."""
    if not one & two:
        return False
    least = sorted(one | two)[: min(SKETCH, max(len(one), len(two)))]
    return sum(h in one and h in two for h in least) >= ALIKE * len(least)
