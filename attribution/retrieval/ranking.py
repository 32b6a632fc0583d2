"""Join rankings by reciprocal rank fusion, and estimate ranks among chunks that are not embedded."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from attribution.retrieval.index import Vectors

LOGISTIC = 1.702
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


def rank_among(
    embedded: Sequence[float], left_out: Vectors | None = None, error: float = 0.0
) -> Callable[[float], float]:
    """Return a function from similarity to its rank if all chunks were embedded; 1 is the nearest.

    `left_out` are estimates of the similarities of the chunks that are not, an array of one dimension; `error` is their
    standard deviation, above zero.
    """
    import numpy as np

    known = sorted(embedded)

    def rank(similarity: float) -> float:
        above = len(known) - bisect_right(known, similarity)
        if left_out is None:
            return 1.0 + above
        # the logistic function is within 0.01 of the normal distribution
        return 1.0 + above + float((1 / (1 + np.exp(LOGISTIC * (similarity - left_out) / error))).sum())

    return rank
