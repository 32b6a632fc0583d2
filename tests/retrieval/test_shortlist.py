from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.embedders.minilm import ERROR
from attribution.retrieval.index import rank_among


def test_ranks_are_exact_where_nothing_is_left_out() -> None:
    similarities = [0.9, 0.8, 0.7, 0.6]
    assert [rank_among(similarities)(s) for s in similarities] == [1, 2, 3, 4]


def test_ranks_among_chunks_that_are_left_out_are_near_the_true_ones() -> None:
    rng = random.Random(3)
    both = [(estimate + rng.gauss(0, ERROR), estimate) for estimate in (rng.gauss(0.2, 0.1) for _ in range(500))]
    both.sort(reverse=True)
    true, estimates = [similarity for similarity, _ in both], [estimate for _, estimate in both]
    nearest = sorted(range(500), key=lambda i: -estimates[i])
    embedded, others = nearest[:30], nearest[30:]
    rank = rank_among([true[i] for i in embedded], np.array([estimates[i] for i in others], dtype=np.float32), ERROR)
    among = rank_among([true[i] for i in embedded])
    far = [i for i in embedded if i >= 40]
    assert far and all(abs(rank(true[i]) - 1 - i) < abs(among(true[i]) - 1 - i) for i in far)
    assert [rank(true[i]) for i in range(5) if i in embedded] == pytest.approx(
        [i + 1 for i in range(5) if i in embedded], abs=6
    )


@given(st.lists(st.floats(-1, 1, width=32), max_size=30), st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=30))
def test_a_nearer_chunk_has_no_worse_rank(embedded: list[float], left_out: list[float]) -> None:
    rank = rank_among(embedded, np.array(left_out, dtype=np.float32), ERROR)
    ranks = [rank(s / 10) for s in range(10, -11, -1)]
    assert ranks == sorted(ranks) and all(1 <= r <= 1 + len(embedded) + len(left_out) for r in ranks)
