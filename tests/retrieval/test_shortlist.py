from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.retrieval.ranking import ONE_IN, SAMPLE, Shortlist, sample
from attribution.types import Chunk


def chunk(number: int, text: str = "") -> Chunk:
    return Chunk(page_id=f"p{number % 7}", start=number * 10, end=number * 10 + 9, text=text or f"passage {number}")


CHUNKS = [chunk(n) for n in range(500)]


@given(st.randoms(use_true_random=False))
def test_the_sample_does_not_depend_on_the_order_of_the_chunks(rng: random.Random) -> None:
    mixed = CHUNKS[:]
    rng.shuffle(mixed)
    assert sample(mixed) == sample(CHUNKS)


def test_the_sample_is_all_of_few_chunks_and_takes_any_text() -> None:
    few = [chunk(1, "\ud800"), chunk(2, ""), chunk(3, "أهرامات")]
    assert sorted(sample(few), key=lambda c: c.start) == few and len(sample(CHUNKS)) == SAMPLE


def test_of_many_chunks_the_sample_is_a_fixed_share() -> None:
    many = [chunk(n) for n in range(40 * SAMPLE)]
    assert len(sample(many)) == len(many) // ONE_IN


def test_ranks_are_exact_where_nothing_is_left_out() -> None:
    short = Shortlist(CHUNKS[:4], [], 0)
    similarities = {c: 0.9 - n / 10 for n, c in enumerate(CHUNKS[:4])}
    assert [short.rank(similarities)(s) for s in similarities.values()] == [1, 2, 3, 4]


def test_ranks_among_chunks_that_are_left_out_are_near_the_true_ones() -> None:
    rng = random.Random(3)
    similarity = {c: rng.gauss(0.2, 0.1) for c in CHUNKS}
    best = rng.sample(CHUNKS, 40)
    for c in best[:20]:
        similarity[c] += 0.2  # those that share words are nearer than others
    true = {c: rank for rank, c in enumerate(sorted(CHUNKS, key=lambda c: -similarity[c]), 1)}
    short = Shortlist(best, [c for c in sample(CHUNKS) if c not in best], len(CHUNKS) - len(best))
    rank = short.rank({c: similarity[c] for c in short.chunks})
    ranks = {c: rank(similarity[c]) for c in short.chunks}
    nearest = sorted(best, key=lambda c: true[c])[:10]
    assert [ranks[c] for c in nearest] == pytest.approx([true[c] for c in nearest], rel=0.5, abs=3)
    among = {c: rank for rank, c in enumerate(sorted(best, key=lambda c: -similarity[c]), 1)}
    far = [c for c in best if true[c] > 100]
    assert all(abs(ranks[c] - true[c]) < abs(among[c] - true[c]) for c in far) and far


def test_a_sample_of_like_chunks_gives_finite_ranks() -> None:
    short = Shortlist(CHUNKS[:2], CHUNKS[2:5], 100)
    rank = short.rank(dict.fromkeys(CHUNKS[:5], 0.5))
    assert all(1 <= rank(similarity) <= 103 for similarity in (-1.0, 0.4, 0.5, 0.6, 1.0))
