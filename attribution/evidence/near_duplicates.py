"""Count the same text once: pages copied from one origin, and a claim's passages that say the same."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from attribution.types import Evidence, Page, content_id

WORDS = 5  # words in a shingle
SKETCH = 256  # shingles kept for a page: those with the smallest hashes (Broder 1997, section 4)
ALIKE = 0.6  # least estimated Jaccard similarity of two copies of one text
SHORT = 40  # words: shorter texts are often similar by chance, so they must be equal
SAME_WORDS = 0.8  # least Jaccard similarity of the words of two sentences that say the same
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class EvidenceGroup:
    """Passages with the same relation whose deciding sentences say the same; the first one is shown."""

    pieces: tuple[Evidence, ...]
    origins: int  # number of distinct sites; copies of one text count once

    @property
    def best(self) -> Evidence:
        return self.pieces[0]


def group_evidence(evidence: Sequence[Evidence], pages: Mapping[str, Page]) -> list[EvidenceGroup]:
    """Group a claim's near-duplicate evidence, deciding passages first, the most probable first."""

    def rank(piece: Evidence) -> tuple[bool, float]:
        neutral = piece.relation == "no_relation"
        p = piece.probabilities
        return neutral, -(piece.similarity if neutral else max(p.entailed, p.contradicted))

    groups: list[tuple[set[str], list[Evidence]]] = []
    for piece in sorted(evidence, key=rank):
        words = set(_TOKEN.findall(piece.deciding_sentence.casefold()))
        for known, group in groups:
            alike = len(words & known) >= SAME_WORDS * len(words | known)
            if alike and group[0].relation == piece.relation:
                group.append(piece)
                break
        else:
            groups.append((words, [piece]))
    return [EvidenceGroup(tuple(g), len({_origin(pages.get(e.page_id)) for e in g})) for _, g in groups]


def deciding_evidence(evidence: Sequence[Evidence], pages: Mapping[str, Page]) -> Evidence | None:
    """Return the most probable passage that supports or contradicts, if there is one."""
    groups = group_evidence(evidence, pages)
    return groups[0].best if groups and groups[0].best.relation != "no_relation" else None


def _origin(page: Page | None) -> str:
    return (page.origin or page.site or page.id) if page else ""


def with_origins(pages: Sequence[Page]) -> tuple[Page, ...]:
    """Set `origin` to the id of the first page of a group of copies; empty for a page without copies.

    The first page is the one published first, whatever the order of `pages`, which is kept.
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


_KEPT = 1024  # sketches: the same pages recur in edits, comparisons and later runs
_sketches: dict[str, frozenset[int]] = {}  # by the hash of a text, which would take more memory


def _sketch(text: str) -> frozenset[int]:
    key = content_id(text)
    found = _sketches.get(key)
    if found is None:
        if len(_sketches) >= _KEPT:
            _sketches.clear()
        found = _sketches[key] = _sketched(text)
    return found


def _sketched(text: str) -> frozenset[int]:
    words = _WORD.findall(text.casefold())
    if len(words) < SHORT:
        return frozenset([_hash(words)] if words else ())
    return frozenset(sorted({_hash(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)})[:SKETCH])


def _hash(words: Iterable[str]) -> int:
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=8).digest())


def _alike(one: frozenset[int], two: frozenset[int]) -> bool:
    """Return True if the estimated Jaccard similarity, the share of smallest hashes in common, reaches ALIKE."""
    both, compared = one & two, min(SKETCH, max(len(one), len(two)))
    if not both or len(both) < ALIKE * compared:
        return False
    return sum(h in both for h in sorted(one | two)[:compared]) >= ALIKE * compared
