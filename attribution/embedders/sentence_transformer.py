"""Any sentence-transformers model of the hub, by default the SBERT model of V24 (section 4.4)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from attribution.errors import Unavailable
from attribution.settings import Settings

DEFAULT = "sentence-transformers/all-mpnet-base-v2"
BATCH = 32
_ENCODING = threading.Lock()  # tokenizers may not be used by two threads at once


@cache
def _load(name: str) -> Any:
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(name, trust_remote_code=False)
    except Exception as error:  # the hub, the file system and the model's own configuration fail each in their way
        reason = (str(error).splitlines() or [""])[0][:160] or type(error).__name__
        raise Unavailable(
            f"the embedding model {name} cannot be loaded ({reason}): connect to the hub once, or fetch it elsewhere "
            f"with `hf download {name}` and give its folder as embedding_model; `minilm` needs no download"
        ) from error


class HubModel:
    """Embedder `sentence_transformer`; texts beyond the model's window are cut by the model."""

    def __init__(self, settings: Settings) -> None:
        self.model = settings.embedding_model or DEFAULT
        self.version = f"sentence_transformer/{self.model}"
        # Models of the family of V24's spread their cosines as MiniLM does; of others nothing is known.
        self.floor = 0.25 if self.model.startswith("sentence-transformers/all-") else 0.0

    def embed(self, texts: Sequence[str]) -> Any:
        """float32 (len(texts), dimensions of the model), rows of length 1."""
        import numpy as np

        model = _load(self.model)
        with _ENCODING:
            if not texts:
                return np.zeros((0, model.get_embedding_dimension()), dtype=np.float32)
            made = model.encode(list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(made, dtype=np.float32)
