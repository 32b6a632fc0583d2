from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

from attribution.embedders.minilm import EXACT, FACTORS, FOLDER, INT8, package_folder
from training.embedder import model


@pytest.mark.parametrize("name", [INT8, EXACT])
def test_the_shipped_graph_is_the_one_this_code_makes_and_holds_no_weights(name: str) -> None:
    held: Any = safe_open(str(package_folder() / "model.safetensors"), "numpy")
    with np.load(FOLDER / FACTORS) as factors:
        made, layout = model(held.get_tensor, factors, exact=name == EXACT)
    graph = FOLDER / f"{name}.onnx"
    assert made.SerializeToString() == graph.read_bytes()
    assert layout == json.loads(graph.with_suffix(".json").read_text(encoding="utf-8"))
    assert graph.stat().st_size < 100_000
