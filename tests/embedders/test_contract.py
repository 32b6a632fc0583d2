"""Every embedder that needs no download: float32 vectors of length 1, one for each text, the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from attribution.embedders import EMBEDDERS, Embedder
from attribution.registry import build
from attribution.settings import Settings

NAMES = [name for name, entry in EMBEDDERS.items() if not entry.needs and "download" not in entry.note]
TEXTS = ["The Nile flows north.", "", "Der Nil fließt nach Norden. 😀", "word " * 2000, "The Nile flows to the north."]


@pytest.mark.parametrize("name", NAMES)
def test_vectors_are_of_length_one_and_near_for_near_texts(name: str) -> None:
    embedder: Embedder = build(EMBEDDERS, name, Settings(), "embedder")
    vectors = embedder.embed(TEXTS)
    assert embedder.version and vectors.dtype == np.float32 and vectors.shape[0] == len(TEXTS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert np.allclose(embedder.embed(TEXTS[:1])[0], vectors[0], atol=1e-4)
    assert vectors[0] @ vectors[4] > 0.8 > vectors[0] @ vectors[3]
    assert embedder.embed([]).shape[0] == 0
