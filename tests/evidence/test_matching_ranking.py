from collections.abc import Sequence
from dataclasses import replace

from attribution.evidence.matching import Ranking, spread
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


def test_a_page_and_its_copies_take_two_of_five_places_unless_there_are_no_others() -> None:
    crowd, copy = [
        [Chunk(page_id=p, start=n, end=n + 1, text=f"{p} {n}") for n in range(9)]
        for p in ("a", "b")
    ]
    others = [Chunk(page_id=p, start=0, end=1, text=p) for p in "cde"]
    ranked = [*(c for both in zip(crowd, copy, strict=True) for c in both), *others]
    assert spread(ranked, 5, {"a": "a", "b": "a"}) == [crowd[0], copy[0], *others]
    assert spread(ranked, 5, {}) == [crowd[0], copy[0], crowd[1], copy[1], others[0]]
    assert spread([*crowd, others[0]], 5, {}) == [crowd[0], crowd[1], others[0], crowd[2], crowd[3]]
    assert spread(ranked, 5, None) == ranked[:5]
