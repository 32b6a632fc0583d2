from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.evidence.candidates import ROUNDING, Candidates, Ranking
from attribution.retrieval.index import Candidate
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Chunk, Claim

if TYPE_CHECKING:
    from attribution.retrieval.index import Vectors

ASKED = Claim(id="c", text="claim", spans=((0, 5),), independent=True)


def chunk(number: int) -> Chunk:
    return Chunk(page_id="p", start=number * 10, end=number * 10 + 9, text=f"passage {number}")


def ranking(similarities: Sequence[float]) -> Ranking:
    """By similarity alone: the rank grows evenly as similarity falls."""
    near = [Candidate(chunk(n), s) for n, s in enumerate(sorted(similarities, reverse=True))]
    return Ranking(("query",), near, lambda similarity: 1 + 100 * (1 - similarity), {})


def test_only_what_is_near_the_border_is_a_close_call() -> None:
    of_claim = ranking([0.9, 0.8, 0.602, 0.6, 0.598, 0.3])
    assert [c.start // 10 for c in of_claim.close_calls(3)] == [2, 3, 4]
    assert of_claim.close_calls(1) == of_claim.close_calls(6) == of_claim.close_calls(9) == []


def test_of_two_as_near_the_one_with_the_words_is_better() -> None:
    of_claim = ranking([0.7, 0.7, 0.2])
    assert of_claim.best(1) == [of_claim.near[0]]
    assert replace(of_claim, by_words={chunk(1): 0.01}).best(1) == [of_claim.near[1]]


@given(st.lists(st.tuples(st.floats(0.3, 0.9), st.floats(-1, 1)), min_size=1, max_size=30), st.integers(1, 6))
def test_rounding_changes_nothing_but_close_calls(rounded: list[tuple[float, float]], k: int) -> None:
    of_claim, errors = ranking([s for s, _ in rounded]), [e for _, e in rounded]
    exact = {c.chunk: c.similarity + 0.99 * e * ROUNDING for c, e in zip(of_claim.near, errors, strict=True)}
    one, two = ({c.chunk for c in ranking_.best(k)} for ranking_ in (of_claim, of_claim.measured(exact)))
    assert one ^ two <= set(of_claim.close_calls(k))


class Rounded:
    """Its vectors lie about the claim's at angles of its own."""

    floor = 0.0

    def __init__(self, version: str, similarities: dict[str, float], exact: Rounded | None = None) -> None:
        self.version, self.exact = version, exact
        self._similarities, self.seen = similarities, list[str]()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        cosines = np.array([self._similarities.get(text, 1.0) for text in texts], dtype=np.float32)
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)


@pytest.fixture
def embedder() -> Rounded:
    exact = Rounded("exact", {"passage 0": 0.8, "passage 1": 0.599, "passage 2": 0.601, "passage 3": 0.4})
    return Rounded("rounded", {"passage 0": 0.8, "passage 1": 0.601, "passage 2": 0.599, "passage 3": 0.4}, exact)


def over(store: Store, embedder: Rounded) -> Candidates:
    candidates = Candidates(Settings(top_k=2), store)
    candidates.embedder = embedder
    candidates.add([chunk(n) for n in range(4)])
    return candidates


def test_a_close_call_is_decided_by_the_exact_vectors_and_what_is_far_is_not_embedded_again(
    store: Store, embedder: Rounded
) -> None:
    [best] = over(store, embedder).best([ASKED], "")
    assert [(c.chunk.start // 10, round(c.similarity, 3)) for c in best] == [(0, 0.8), (2, 0.601)]
    assert embedder.exact and {"claim", "passage 1", "passage 2"} <= set(embedder.exact.seen)
    assert "passage 3" not in embedder.exact.seen
    seen = len(embedder.exact.seen)
    again = over(store, embedder)
    assert again.best([ASKED], "") == [best] and len(embedder.exact.seen) == seen  # both kinds of vectors are kept
    assert len(again.vectors) == 5 + seen


def test_an_early_look_and_an_embedder_without_exact_vectors_take_the_rounded_ones(
    store: Store, embedder: Rounded
) -> None:
    [early] = over(store, embedder).best([ASKED], "", early=True)
    assert [c.chunk.start // 10 for c in early] == [0, 1] and embedder.exact and not embedder.exact.seen
    embedder.exact = None
    assert over(store, embedder).best([ASKED], "") == [early]
