"""Static vectors: a text's vector is the weighted mean of one vector per token.

They cost a hundredth of MiniLM's and decide which passages of many are worth embedding. The file
has Model2Vec's format (Tulkens and van Dongen 2024); training/static.py makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from attribution.embedders.minilm import FOLDER, MAX_CHARACTERS, TOKENS, tokenizer
from attribution.models.engine import load_once
from attribution.models.files import check_shipped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from attribution.retrieval.index import Vectors

FILE = "static.safetensors"


class _StaticModel(NamedTuple):
    tokenizer: Tokenizer
    embeddings: NDArray[np.int8]  # (tokens, dimensions)
    weights: NDArray[np.float32]  # (tokens,)


@load_once
def _model() -> _StaticModel:
    from safetensors.numpy import load_file

    check_shipped(FOLDER, FILE)
    tensors = load_file(FOLDER / FILE)
    return _StaticModel(tokenizer(), tensors["embeddings"], tensors["weights"])


def embed_statically(texts: Sequence[str]) -> Vectors:
    """Return a float32 array of shape (len(texts), dimensions).

    Rows have length 1, or are zero for texts without tokens. Each depends on its text alone.

    Raises:
        Unavailable: The file is missing or damaged.
    """
    import numpy as np

    dimensions = _model().embeddings.shape[1]
    rows = [_vector(text[:MAX_CHARACTERS]) for text in texts]
    return np.array(rows, dtype=np.float32).reshape(-1, dimensions)


@lru_cache(maxsize=8192)  # 4 MB: a run that is edited or checked again asks for the same passages
def _vector(text: str) -> Vectors:
    import numpy as np

    model = _model()
    encodable = text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be encoded
    ids = model.tokenizer.encode(encodable, add_special_tokens=False).ids[: TOKENS - 2]
    total = model.weights[ids] @ model.embeddings[ids].astype(np.float32)
    unit: Vectors = total / max(float(np.linalg.norm(total)), 1e-12)
    return unit
