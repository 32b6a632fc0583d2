"""The first stage of retrieval: which of many chunks are embedded for a claim, and how near the others may be."""

from __future__ import annotations

import heapq
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, pstdev

from attribution.types import Chunk

SAMPLE = 40  # chunks that are embedded whatever they say


def sample(chunks: Iterable[Chunk]) -> list[Chunk]:
    """`SAMPLE` of the chunks, as good as at random, but the same ones whatever their order and whatever is claimed."""
    return heapq.nsmallest(
        SAMPLE, chunks, key=lambda c: (zlib.crc32(c.text.encode("utf-8", "replace")), c.page_id, c.start)
    )


@dataclass(frozen=True)
class Shortlist:
    """What is embedded for a claim: the chunks that share most words with it, and others that show what is left out."""

    best: Sequence[Chunk]
    others: Sequence[Chunk]
    left_out: int  # chunks that are not among the best, `others` included

    @property
    def chunks(self) -> list[Chunk]:
        return [*self.best, *self.others]

    def ranks(self, similarities: Mapping[Chunk, float]) -> dict[Chunk, float]:
        """Where each of the chunks would stand by similarity if all were embedded; 1 is the nearest.

        The similarities of what is left out are taken to be normally distributed, as in `others`.
        """
        best = sorted(similarities[chunk] for chunk in self.best)
        others = [similarities[chunk] for chunk in self.others]
        beyond = NormalDist(fmean(others), max(pstdev(others), 1e-6)) if others else None

        def rank(similarity: float) -> float:
            above = len(best) - bisect_right(best, similarity)
            return 1 + above + (self.left_out * (1 - beyond.cdf(similarity)) if beyond else 0)

        return {chunk: rank(similarity) for chunk, similarity in similarities.items()}
