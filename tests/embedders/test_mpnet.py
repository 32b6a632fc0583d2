import numpy as np
import pytest

from attribution.embedders import mpnet
from attribution.models.mpnet import STEP, installed
from attribution.settings import Settings


@pytest.mark.skipif(not installed(), reason=STEP)
def test_near_in_meaning_is_near_in_vectors_and_the_model_is_unpacked_once(
    own_data_folder: None,
) -> None:
    texts = [
        "The river floods in spring.",
        "Every year the stream overflows in April.",
        "Copper prices rose.",
    ]
    vectors = mpnet.MPNet(Settings()).embed(texts)
    assert vectors.shape == (3, 768) and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    unpacked = (mpnet.model_folder() / "model.safetensors").stat().st_mtime_ns
    assert mpnet.make() == mpnet.model_folder()
    assert (mpnet.model_folder() / "model.safetensors").stat().st_mtime_ns == unpacked
