from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attribution.evidence.candidates import Ranking
from attribution.retrieval.index import Candidate
from attribution.types import Chunk


def chunk(number: int) -> Chunk:
    return Chunk(page_id="p", start=number * 10, end=number * 10 + 9, text=f"passage {number}")


def ranking(similarities: Sequence[float]) -> Ranking:
    """By similarity alone: the rank grows evenly as similarity falls."""
    near = [Candidate(chunk(n), s) for n, s in enumerate(sorted(similarities, reverse=True))]
    return Ranking(near, lambda similarity: 1 + 100 * (1 - similarity), {})


def test_of_two_as_near_the_one_with_the_words_is_better() -> None:
    of_claim = ranking([0.7, 0.7, 0.2])
    assert of_claim.best(1) == [of_claim.near[0]]
    assert replace(of_claim, by_words={chunk(1): 0.01}).best(1) == [of_claim.near[1]]
