"""A sentence-transformers model of the hub, by default the SBERT model of V24 4.3."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attribution.embedders import EMBEDDERS
from attribution.models import files
from attribution.models.loading import load_while_used
from attribution.settings import Settings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from attribution.retrieval.index import Vectors

DEFAULT = next(iter(EMBEDDERS["sentence_transformer"].models))
BATCH = 32
_ENCODING = threading.Lock()  # tokenizers may not be used by two threads at once


@load_while_used
def load(name: str) -> SentenceTransformer:
    """A model of the hub or a folder. Raises ModelUnavailable where it cannot be loaded."""
    from sentence_transformers import SentenceTransformer

    files.check_size(name)
    with files.loading(name, "embedding_model", "minilm"):
        return SentenceTransformer(name, trust_remote_code=False)


class HubModel:
    """Embedder `sentence_transformer`; texts beyond the model's window are cut by the model."""

    def __init__(self, settings: Settings) -> None:
        self.model = settings.embedding_model or DEFAULT
        self.version = f"sentence_transformer/{self.model}"
        # Models of the family of V24's have cosines like MiniLM's; of others nothing is known.
        self.floor = 0.25 if self.model.startswith("sentence-transformers/all-") else 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 (len(texts), dimensions of the model), rows of length 1."""
        return encode(load(self.model), texts)


def encode(model: SentenceTransformer, texts: Sequence[str]) -> Vectors:
    """float32 (len(texts), dimensions of the model), rows of length 1; one thread at a time."""
    import numpy as np

    if not texts:
        return np.zeros((0, model.get_embedding_dimension()), dtype=np.float32)
    with _ENCODING:
        vectors = model.encode(
            list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
    return np.asarray(vectors, dtype=np.float32)
