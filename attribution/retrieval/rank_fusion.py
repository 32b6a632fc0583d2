"""Rankings joined by reciprocal rank fusion (Cormack, Clarke and Büttcher 2009, section 2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeVar

CONSTANT = 60  # the paper's; a smaller one gives the first ranks more weight
H = TypeVar("H", bound=Hashable)


def reciprocal(rank: float, constant: float = CONSTANT) -> float:
    """What one ranking adds to the score of an item."""
    return 1 / (constant + rank)


def reciprocal_ranks(rankings: Sequence[tuple[float, Sequence[H]]], constant: float = CONSTANT) -> dict[H, float]:
    """The score of every item in weighted rankings; the highest is best."""
    scores: dict[H, float] = defaultdict(float)
    for weight, ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] += weight * reciprocal(rank, constant)
    return scores
