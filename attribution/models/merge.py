"""Build the larger verifier's int8 model from base weights, adapter and graph, with numpy alone.

The graph (made by training/reader_graph.py) holds no weights: it names a file beside it, and
layout.json maps tensors to positions in that file. A LoRA layer's weight becomes W + (alpha / r) B
A; matrices are stored as int8 with a scale for each column.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attribution.models.files import digest, made
from attribution.models.mpnet import WEIGHTS as BASE_WEIGHTS
from attribution.models.mpnet import base_files
from attribution.text_files import named

if TYPE_CHECKING:  # listings name models without loading it
    import numpy as np
    from numpy.typing import NDArray

LARGEST = 64  # largest int8 weight in matrix products: see `quantised`
GRAPH, WEIGHTS, LAYOUT, TOKENIZER = "model.onnx", "model.weights", "layout.json", "tokenizer.json"


class Merged:
    """The merged weights of base and adapter, by their names in transformers, as float32."""

    def __init__(self, base: Path, adapter: Path) -> None:
        import numpy as np
        from safetensors import safe_open
        from safetensors.numpy import load_file

        self._base: Any = safe_open(str(base), "numpy")
        config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
        self._scale = config["lora_alpha"] / config["r"]
        loaded = load_file(str(adapter / "adapter_model.safetensors"))
        self._adapter = {
            k.removeprefix("base_model.model."): v.astype(np.float32) for k, v in loaded.items()
        }

    def __getitem__(self, name: str) -> NDArray[np.float32]:
        if name in self._adapter:  # the head, which the base lacks
            return self._adapter[name]
        weight: NDArray[np.float32] = self._base.get_tensor(name.removeprefix("mpnet.")).astype(
            "float32"
        )
        stem = name.removesuffix(".weight")
        if f"{stem}.lora_A.weight" in self._adapter:
            weight += self._scale * (
                self._adapter[f"{stem}.lora_B.weight"] @ self._adapter[f"{stem}.lora_A.weight"]
            )
        return weight


def quantised(
    weight: NDArray[np.float32], largest: int = LARGEST
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantise symmetrically, with a scale for each column; return (int8 values, float32 scales).

    CPUs without VNNI add two products in 16 bits and saturate: 2 * 255 * 64 just fits. With the
    whole range of int8, the same pair would get other probabilities there. The error relative to
    float32 is about the same.
    """
    import numpy as np

    most = np.abs(weight).max(axis=0)
    scale = (most.astype(np.float64) / largest).astype(np.float32)
    scale = np.where(scale < np.finfo(np.float32).tiny, np.float32(1.0), scale)
    return np.clip(np.rint(weight / scale), -largest, largest).astype(np.int8), scale


def formed(
    array: NDArray[np.float32], form: str, exact: Sequence[int] = ()
) -> tuple[NDArray[np.generic], ...]:
    """Return a weight as stored for the graph: itself, or int8 values and their scales.

    Args:
        array: The weight.
        form: "columns" or "rows", which have a scale each; "float" is stored as it is.
        exact: Rows that are a third part, in float32 (Dettmers et al. 2022, LLM.int8(), 3.2).
    """
    import numpy as np

    if form == "float":
        return (array,)
    if form == "rows":
        values, scales = quantised(array.T, 127)  # used only for lookups
        return np.ascontiguousarray(values.T), scales[:, None]
    if not exact:
        return quantised(array)
    others = array.copy()
    others[exact] = 0
    return *quantised(others), array[exact]


def fill(layout: list[dict[str, Any]], weights: Merged, target: Path) -> None:
    """Write the graph's weights; each entry gives the tensor, its form and its byte offsets."""
    with named(target), target.open("wb") as out:
        for entry in layout:
            array = weights[entry["tensor"]]
            array = array.T if entry["transposed"] else array
            parts = formed(array, entry["form"], entry.get("kept", ()))
            for values, offset in zip(parts, entry["offsets"], strict=True):
                out.seek(offset)
                out.write(values.tobytes())


def _source(adapter: Path) -> str:
    """Hash everything that a built model depends on."""
    names = [GRAPH, LAYOUT, TOKENIZER, "adapter_model.safetensors"]
    return hashlib.sha256(
        "".join([str(LARGEST), *(digest(adapter / name) for name in names)]).encode()
    ).hexdigest()


def build(adapter: Path, out: Path) -> Path:
    """Build the model of an adapter's folder unless it exists; return the path of its graph.

    Raises Unavailable if the base model cannot be obtained.
    """

    def make(folder: Path) -> None:
        base = folder.parent / BASE_WEIGHTS
        base_files(base.parent, [BASE_WEIGHTS])
        layout = json.loads((adapter / LAYOUT).read_text(encoding="utf-8"))
        fill(layout, Merged(base, adapter), folder / WEIGHTS)
        for name in (GRAPH, TOKENIZER):
            shutil.copy(adapter / name, folder / name)

    return made(out, _source(adapter), make) / GRAPH
