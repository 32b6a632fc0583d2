import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.embedders.static import embed_statically
from attribution.settings import ROOT

LIBRARY = ROOT / "examples" / "library"


def test_a_sentence_is_nearest_to_its_own_passage() -> None:
    passages = [path.read_text(encoding="utf-8")[400:900] for path in sorted(LIBRARY.glob("*.md"))]
    claims = [passage.partition(". ")[2][:120] for passage in passages]
    cosines = embed_statically(claims) @ embed_statically(passages).T
    nearest = cosines.argmax(axis=1)
    assert (nearest == np.arange(len(passages))).mean() > 0.8


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_a_vector_depends_on_its_text_alone(texts: list[str]) -> None:
    together = embed_statically([*texts, "\ud800"])
    assert len(together) == len(texts) + 1
    assert np.isfinite(together).all()
    for row, text in zip(together, texts, strict=False):
        assert (row == embed_statically([text])[0]).all()
