from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

from attribution.models import engine
from attribution.models.engine import OnnxModel
from attribution.verifiers.reader import SMALL


def test_large_int8_weights_do_not_overflow(tmp_path: Path) -> None:
    """CPUs without VNNI add two products in 16 bits: 2 * 255 * 127 does not fit."""
    weights = np.full((64, 16), 127, dtype=np.int8)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["quantised", "scale", "zero"]),
        helper.make_node("MatMulInteger", ["quantised", "weights", "zero"], ["sums"]),
        helper.make_node("Cast", ["sums"], ["cast"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["cast", "scale"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])],
        [numpy_helper.from_array(weights, "weights")],
    )
    path = tmp_path / "model.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    model = OnnxModel(path, SMALL.folder / "tokenizer.json", saturates=True)
    (found,) = model._session.run(None, {"x": np.ones((1, 64), dtype=np.float32)})

    assert np.allclose(found, 64 * 127, rtol=0.01)


def test_results_stand_in_the_order_of_the_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "cores", lambda: 2)
    assert engine.in_threads(lambda n: n * n, range(50)) == [n * n for n in range(50)]
    assert engine.in_threads(str, []) == []


def test_an_error_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "cores", lambda: 2)
    with pytest.raises(ZeroDivisionError):
        engine.in_threads(lambda n: 1 // n, [1, 0, 1])
