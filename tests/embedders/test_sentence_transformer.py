from pathlib import Path

import numpy as np
import pytest

from attribution.embedders.sentence_transformer import HubModel
from attribution.settings import Settings
from tests.tiny_models import save_bert


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    inner, folder = tmp_path_factory.mktemp("inner"), tmp_path_factory.mktemp("tiny")
    save_bert(inner)
    transformer = Transformer(str(inner), max_seq_length=64)
    SentenceTransformer(modules=[transformer, Pooling(32)], device="cpu").save(str(folder))
    return folder


def test_a_model_by_name_gives_unit_rows_in_order(tiny: Path) -> None:
    used = HubModel(Settings(embedding_model=str(tiny)))
    texts = ["the river is long", "blue harbour", "the river is long " * 40] * 12
    made = used.embed(texts)
    assert made.dtype == np.float32
    assert made.shape == (36, 32)
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    assert np.allclose(made[1], used.embed(["blue harbour"])[0], atol=1e-5)
    assert not np.allclose(made[0], made[1], atol=1e-3)
    assert used.embed([]).shape == (0, 32)
    assert str(tiny) in used.version
