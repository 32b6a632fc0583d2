import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.embedders.minilm import MiniLM, embed_statically, package_folder
from attribution.settings import ROOT, Settings

LIBRARY = ROOT / "examples" / "library"
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


def test_a_sentence_is_nearest_to_its_own_passage() -> None:
    passages = [path.read_text(encoding="utf-8")[400:900] for path in sorted(LIBRARY.glob("*.md"))]
    claims = [passage.partition(". ")[2][:120] for passage in passages]
    cosines = embed_statically(claims) @ embed_statically(passages).T
    nearest = cosines.argmax(axis=1)
    assert (nearest == np.arange(len(passages))).mean() > 0.8


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_a_static_vector_depends_on_its_text_alone(texts: list[str]) -> None:
    together = embed_statically([*texts, "\ud800"])
    assert len(together) == len(texts) + 1
    assert np.isfinite(together).all()
    for row, text in zip(together, texts, strict=False):
        assert (row == embed_statically([text])[0]).all()
