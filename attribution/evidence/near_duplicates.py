"""Group a claim's passages that say the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from attribution.settings import Settings
from attribution.text.sentences import sentences
from attribution.types import Evidence, Page, Span
from attribution.verdicts import leaning

SAME_WORDS = 0.8  # least Jaccard similarity of the words of two sentences that say the same
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class EvidenceGroup:
    """Passages with the same relation whose deciding sentences say the same; the first one is
    shown.
    """

    pieces: tuple[Evidence, ...]
    origins: int  # number of distinct sites; copies of one text count once

    @property
    def best(self) -> Evidence:
        return self.pieces[0]


def deciding_first(piece: Evidence) -> tuple[bool, float]:
    """Return the place of a claim's passage among the others: those that decide first, the most
    probable first.
    """
    neutral = piece.relation == "no_relation"
    p = piece.probabilities
    return neutral, -(piece.similarity if neutral else max(p.entailed, p.contradicted))


def group_evidence(evidence: Sequence[Evidence], pages: Mapping[str, Page]) -> list[EvidenceGroup]:
    """Group a claim's near-duplicate evidence, deciding passages first, the most probable first."""
    groups: list[tuple[set[str], list[Evidence]]] = []
    for piece in sorted(evidence, key=deciding_first):
        words = set(_TOKEN.findall(piece.deciding_sentence.casefold()))
        for known, group in groups:
            alike = len(words & known) >= SAME_WORDS * len(words | known)
            if alike and group[0].relation == piece.relation:
                group.append(piece)
                break
        else:
            groups.append((words, [piece]))
    return [
        EvidenceGroup(tuple(g), len({_origin(pages.get(e.page_id)) for e in g})) for _, g in groups
    ]


def deciding_evidence(evidence: Sequence[Evidence], pages: Mapping[str, Page]) -> Evidence | None:
    """Return the most probable passage that supports or contradicts, if there is one."""
    groups = group_evidence(evidence, pages)
    return groups[0].best if groups and groups[0].best.relation != "no_relation" else None


def nearest_evidence(
    evidence: Sequence[Evidence], label: str, pages: Mapping[str, Page]
) -> Evidence | None:
    """Return the passage that decides or, for an unclear claim, the one to read first."""
    if label == "contradicted":
        evidence = [
            e for e in evidence if e.relation == "contradicted"
        ]  # another part may be supported
    if label != "unclear":
        return deciding_evidence(evidence, pages)
    groups = group_evidence(evidence, pages)
    best = max(
        groups,
        key=lambda g: (leaning(g.best.probabilities) != "no_relation", g.best.about),
        default=None,
    )
    return best.best if best else None


def with_similar_sentence(statement: str, piece: Evidence) -> Evidence:
    """Return an undecided passage with the sentence that is nearest to the claim in meaning."""
    if piece.relation != "no_relation":
        return piece
    start, end = _most_similar(statement, piece.text)
    return piece.model_copy(update={"sentence": (piece.start + start, piece.start + end)})


@lru_cache(maxsize=1024)
def _most_similar(statement: str, text: str) -> Span:
    from attribution.embedders import EMBEDDERS

    spans = sentences(text)
    if len(spans) < 2:
        return spans[0] if spans else (0, len(text))
    settings = Settings()
    embedder = EMBEDDERS.build(settings.embedder, settings)
    claim, *rows = embedder.embed([statement, *(text[start:end] for start, end in spans)])
    similarities = [float(claim @ row) for row in rows]
    return spans[similarities.index(max(similarities))]


def _origin(page: Page | None) -> str:
    return (page.origin or page.site or page.id) if page else ""
