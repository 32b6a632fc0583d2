"""Join rankings by reciprocal rank fusion, and choose the chunks that are embedded for a claim."""

from __future__ import annotations

import heapq
import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, pstdev
from typing import TypeVar

from attribution.types import Chunk

CONSTANT = 60  # the paper's; a smaller one gives the first ranks more weight
H = TypeVar("H", bound=Hashable)


def reciprocal(rank: float, constant: float = CONSTANT) -> float:
    """Return the score that an item gets from its rank in one ranking."""
    return 1 / (constant + rank)


def reciprocal_ranks(rankings: Sequence[tuple[float, Sequence[H]]], constant: float = CONSTANT) -> dict[H, float]:
    """Score every item of weighted rankings; higher is better."""
    scores: dict[H, float] = defaultdict(float)
    for weight, ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] += weight * reciprocal(rank, constant)
    return scores


SAMPLE, ONE_IN = 40, 20  # chunks that are always embedded: one in twenty, at least forty
TAIL = 1.5  # times as many chunks far above the mean as in a normal distribution (docs/retrieval.md)


def sample(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return a pseudo-random sample of the chunks, the same for any order and any claim."""
    return heapq.nsmallest(
        max(SAMPLE, len(chunks) // ONE_IN),
        chunks,
        key=lambda c: (zlib.crc32(c.text.encode("utf-8", "replace")), c.page_id, c.start),
    )


@dataclass(frozen=True)
class Shortlist:
    """The chunks embedded for a claim: those that share most words with it, and a sample of the others."""

    best: Sequence[Chunk]
    others: Sequence[Chunk]
    left_out: int  # chunks that are not among the best, `others` included

    @property
    def chunks(self) -> list[Chunk]:
        return [*self.best, *self.others]

    def rank(self, similarities: Mapping[Chunk, float]) -> Callable[[float], float]:
        """Return a function from similarity to its rank if all chunks were embedded; 1 is the nearest.

        The similarities of the chunks left out are assumed to be distributed as in `others`: normally, with a heavier
        tail.
        """
        best = sorted(similarities[chunk] for chunk in self.best)
        others = [similarities[chunk] for chunk in self.others]
        beyond = NormalDist(fmean(others), max(pstdev(others), 1e-6)) if others else None

        def rank(similarity: float) -> float:
            above = len(best) - bisect_right(best, similarity)
            return 1 + above + (self.left_out * min(1, TAIL * (1 - beyond.cdf(similarity))) if beyond else 0)

        return rank
