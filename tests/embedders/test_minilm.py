import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.embedders.minilm import MiniLM, package_folder
from attribution.settings import Settings

TEXTS = [
    "The river floods in spring.",
    "Every year the stream overflows in April, when the snow of the mountains melts.",
    "Copper prices rose.",
    "The council of the town bought the mill in 1874 for 4,200 crowns, and closed it three years "
    "later. " * 4,
]


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM(Settings())


def test_vectors_are_those_of_the_network_in_float32_but_for_rounding(embedder: MiniLM) -> None:
    from sentence_transformers import SentenceTransformer

    exact = SentenceTransformer(str(package_folder()), device="cpu").encode(
        TEXTS, normalize_embeddings=True
    )
    vectors = embedder.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert (vectors * exact).sum(axis=1).min() > 0.993
    assert np.abs(vectors @ vectors.T - exact @ exact.T).max() < 0.02


def test_a_vector_does_not_depend_on_the_texts_beside_it(embedder: MiniLM) -> None:
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in reversed(TEXTS)])[::-1]
    assert np.array_equal(together, alone)


def test_what_lies_beyond_the_window_is_not_read(embedder: MiniLM) -> None:
    long = "word " * 400
    assert np.array_equal(*embedder.embed([long, long + "and a different end " * 2000]))


def test_nothing_gives_no_vectors(embedder: MiniLM) -> None:
    assert embedder.embed([]).shape == (0, 384)


@settings(max_examples=25)
@given(st.text(max_size=200))
def test_any_text_has_a_vector_of_length_one(text: str) -> None:
    [vector] = MiniLM(Settings()).embed([text])
    assert abs(float(vector @ vector) - 1) < 1e-5
