"""Estimates of MiniLM's vectors for a hundredth of their price: the weighted mean of one vector a token.

training/static.py trains the table towards the vectors of whole passages. Only passages are estimated; compared with a
claim's own vector, the cosine is off by `ERROR`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from attribution.embedders.minilm import CUT, FOLDER, PACKAGE, TOKENIZER, TOKENS, package_folder
from attribution.models.files import check_package, check_shipped
from attribution.models.loading import load_once
from attribution.models.onnx import load_tokenizer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

    from attribution.retrieval.index import Vectors

FILE = "static.npz"
DIMENSIONS = 256  # of the 384, which lose nothing that counts (docs/retrieval.md)
HALF = 8  # what is added to a signed four-bit number
ERROR = 0.09  # standard deviation of an estimated cosine, on texts unlike those of training (docs/retrieval.md)


class Table(NamedTuple):
    rows: npt.NDArray[np.uint8]  # (tokens, DIMENSIONS / 2), two numbers a byte
    scales: npt.NDArray[np.float32]  # (tokens,): of a row, its token's weight included
    weights: npt.NDArray[np.float32]  # (tokens,)
    basis: npt.NDArray[np.float32]  # (DIMENSIONS, 384), rows of length 1
    added: npt.NDArray[np.float32]  # (DIMENSIONS,): to every mean


def tokenizer() -> Tokenizer:
    """Return MiniLM's tokenizer. Raises Unavailable if its package is missing or damaged."""
    check_package(PACKAGE, TOKENIZER)
    return load_tokenizer(package_folder() / TOKENIZER)


def pack(
    table: npt.NDArray[np.float32], weights: npt.NDArray[np.float32], added: npt.NDArray[np.float32], dimensions: int
) -> Mapping[str, npt.NDArray[np.generic]]:
    """Return the arrays of the file: vectors of `dimensions` that keep most of the table's, in four bits a number.

    `table` has shape (tokens, 384), `weights` (tokens,), `added` (384,).
    """
    import numpy as np

    basis = np.linalg.svd(table * weights[:, None], full_matrices=False)[2][:dimensions]
    rows = table @ basis.T
    scales = np.abs(rows).max(axis=1) / (HALF - 1)
    packed = (np.round(rows / np.maximum(scales, 1e-9)[:, None]) + HALF).astype(np.uint8)
    return {
        "rows": packed[:, ::2] << 4 | packed[:, 1::2],
        "scales": scales.astype(np.float16),
        "weights": weights.astype(np.float16),
        "basis": basis.astype(np.float16),
        "added": (basis @ added).astype(np.float16),
    }


def load_table() -> Table:
    """Read the file. Raises Unavailable if it is missing or damaged."""
    import numpy as np

    check_shipped(FOLDER, FILE)
    with np.load(FOLDER / FILE) as file:
        scales, weights, basis, added = (file[n].astype(np.float32) for n in ("scales", "weights", "basis", "added"))
        return Table(file["rows"], scales * weights, weights, basis, added)


_tokenizer, _table = load_once(tokenizer), load_once(load_table)


def estimated(texts: Sequence[str]) -> Vectors:
    """Return a float32 array of shape (len(texts), DIMENSIONS), not of length 1; the text alone decides a row."""
    import numpy as np

    return np.array([_estimate(text[:CUT]) for text in texts], dtype=np.float32).reshape(-1, DIMENSIONS)


@lru_cache(maxsize=8192)  # 12 MB: a run that is edited or checked again asks for the same passages
def _estimate(text: str) -> Vectors:
    import numpy as np

    table, result = _table(), _table().added.copy()
    # a lone surrogate cannot be encoded
    ids = _tokenizer().encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False).ids[: TOKENS - 2]
    if ids:
        rows = table.rows[ids]
        scales = table.scales[ids] / table.weights[ids].sum()
        result[::2] += scales @ ((rows >> 4).astype(np.float32) - HALF)
        result[1::2] += scales @ ((rows & 15).astype(np.float32) - HALF)
    return result


def projected(vectors: Vectors) -> Vectors:
    """Return MiniLM's vectors (n, 384) as (n, DIMENSIONS); their product with an estimate estimates the cosine."""
    return vectors @ _table().basis.T
