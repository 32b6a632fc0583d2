import json
from typing import Any

import numpy as np
from safetensors import safe_open

from attribution.embedders.minilm import FACTORS, FOLDER, GRAPH, LAYOUT, package_folder
from training.embedder import model


def test_the_shipped_graph_is_the_one_this_code_makes_and_holds_no_weights() -> None:
    held: Any = safe_open(str(package_folder() / "model.safetensors"), "numpy")
    with np.load(FOLDER / FACTORS) as factors:
        made, layout = model(held.get_tensor, factors)
    assert made.SerializeToString() == (FOLDER / GRAPH).read_bytes()
    assert layout == json.loads((FOLDER / LAYOUT).read_text(encoding="utf-8"))
    assert (FOLDER / GRAPH).stat().st_size < 100_000
