"""The networks say the same on every CPU."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from attribution.models.onnx import OnnxModel
from attribution.verifiers.embedded_small import FOLDER


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
        nodes, "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])],
        [numpy_helper.from_array(weights, "weights")],
    )  # fmt: skip
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    model = OnnxModel(path, FOLDER / "tokenizer.json", saturates=True)
    (found,) = model._session.run(None, {"x": np.ones((1, 64), dtype=np.float32)})

    assert np.allclose(found, 64 * 127, rtol=0.01)
