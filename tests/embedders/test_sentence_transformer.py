from pathlib import Path

import numpy as np
import pytest

from attribution.embedders.sentence_transformer import HubModel
from attribution.errors import Unavailable
from attribution.settings import Settings

WORDS = [
    "[PAD]",
    "[CLS]",
    "[SEP]",
    "[UNK]",
    "the",
    "river",
    "is",
    "long",
    "short",
    "blue",
    "harbour",
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    inner, folder = tmp_path_factory.mktemp("inner"), tmp_path_factory.mktemp("tiny")
    (inner / "vocab.txt").write_text("\n".join(WORDS))
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=12,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
    )
    BertModel(config).save_pretrained(inner)
    BertTokenizerFast(str(inner / "vocab.txt")).save_pretrained(inner)
    transformer = Transformer(str(inner), max_seq_length=32)
    SentenceTransformer(modules=[transformer, Pooling(12)], device="cpu").save(str(folder))
    return folder


def test_a_model_by_name_gives_unit_rows_in_order(tiny: Path) -> None:
    used = HubModel(Settings(embedding_model=str(tiny)))
    texts = ["the river is long", "blue harbour", "the river is long " * 40] * 12
    made = used.embed(texts)
    assert made.dtype == np.float32
    assert made.shape == (36, 12)
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    assert np.allclose(made[1], used.embed(["blue harbour"])[0], atol=1e-5)
    assert not np.allclose(made[0], made[1], atol=1e-3)
    assert used.embed([]).shape == (0, 12)
    assert str(tiny) in used.version


def test_a_model_that_is_not_there_says_how_to_fetch_it() -> None:
    with pytest.raises(Unavailable, match=r"hf download nobody/no-such-embedder.*minilm"):
        HubModel(Settings(embedding_model="nobody/no-such-embedder")).embed(["a"])
