import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.embedders.minilm import DIMENSIONS, ERROR, MiniLM, estimated, projected
from attribution.settings import ROOT, Settings
from training.static import pack

LIBRARY = ROOT / "examples" / "library"


def test_estimates_are_near_the_vectors_of_the_model() -> None:
    passages = [path.read_text(encoding="utf-8")[400:900] for path in sorted(LIBRARY.glob("*.md"))]
    model = MiniLM(Settings())
    claims = model.embed([passage.partition(". ")[2][:120] for passage in passages])
    true, estimate = claims @ model.embed(passages).T, projected(claims) @ estimated(passages).T
    others = ~np.eye(
        len(passages), dtype=bool
    )  # a claim's cosine with its own passage is underestimated, as means are
    assert (true - estimate)[others].std() < ERROR and abs(
        (true - estimate)[others].mean()
    ) < ERROR / 2
    assert np.corrcoef(true.ravel(), estimate.ravel())[0, 1] > 0.7
    assert (
        estimate.argmax(axis=1) == np.arange(len(passages))
    ).mean() > 0.8  # each claim's own passage is nearest


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_any_text_has_an_estimate_that_depends_on_nothing_else(texts: list[str]) -> None:
    together = estimated([*texts, "\ud800"])
    assert together.shape == (len(texts) + 1, DIMENSIONS) and np.isfinite(together).all()
    for row, text in zip(together, texts, strict=False):
        assert (row == estimated([text])[0]).all()


def test_packing_keeps_what_the_basis_holds() -> None:
    rng = np.random.default_rng(1)
    table = (rng.normal(size=(50, 8)) @ rng.normal(size=(8, 384))).astype(
        np.float32
    )  # eight dimensions in all
    packed = pack(table, np.ones(50, dtype=np.float32), table[0], 8)
    rows, basis = packed["rows"].astype(int), packed["basis"].astype(np.float32)
    numbers = (
        np.stack([(rows >> 4) - 8, (rows & 15) - 8], axis=2).reshape(50, 8)
        * packed["scales"][:, None]
    )
    assert np.abs(numbers @ basis - table).max() < np.abs(table).max() / 5
    assert np.allclose(packed["added"] @ basis, table[0], atol=0.05 * np.abs(table[0]).max())
