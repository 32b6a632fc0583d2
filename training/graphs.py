"""Write graphs of onnxruntime's own operators by hand, with int8 products.

Weights are int8 with a scale for each column. Activations are quantised while the graph runs, each
token by its own largest value. With one scale for a whole text, as in onnxruntime's dynamic
quantisation, probabilities were up to 0.4 off and depended on the other texts of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto, helper, numpy_helper

RUNTIME = "com.microsoft"  # the domain of onnxruntime's own operators


class Quantised(NamedTuple):
    """The input of a product, by the names of its parts.

    Attributes:
        values: uint8 around 128.
        scales: Of each row, as a column.
        exact: The columns that are not quantised.
        columns: Which these are.
    """

    values: str
    scales: str
    exact: str = ""
    columns: Sequence[int] = ()


class Graph:
    """Nodes and constants while they are collected; every method returns the name of its output."""

    def __init__(self, epsilon: float) -> None:
        """`epsilon` is that of the layer norms."""
        self._epsilon = epsilon
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.layout: list[dict[str, Any]] = []
        self._quantised: dict[str, Quantised] = {}

    def node(self, kind: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        """Add a node, whose output is named after it."""
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(self.made(kind, inputs, output, domain=domain, **attributes))
        return output

    def made(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> Any:
        """Make a node without adding it.

        Args:
            kind: The operator.
            inputs: The outputs, tensors and constants that it reads.
            output: The name of its output.
            attributes: Those of the operator.
        """
        return helper.make_node(kind, inputs, [output], **attributes)

    def constant(self, name: str, value: Any) -> str:
        """Add an array, unless there is one of that name."""
        if all(c.name != name for c in self.constants):
            self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def numbers(self, name: str, *values: int) -> str:
        """Add a constant of integers, such as an axis."""
        return self.constant(name, np.array(values, np.int64))

    def tensor(self, name: str, form: str = "float") -> str:
        """Add a tensor of the model, whose array comes when the graph is loaded.

        Args:
            name: Its name in transformers.
            form: As `attribution.models.merge.formed` has it.
        """
        self.layout.append({"tensor": name, "form": form})
        return name

    def quantised(self, x: str, rounded: Any = None) -> Quantised:
        """Quantise each row by its own largest value.

        Args:
            x: The rows; what is quantised once is used again.
            rounded: True for the columns to quantise. A few that range far beyond the others stay
                in float32, or the others would lose their precision.
        """
        if x in self._quantised:
            return self._quantised[x]
        even = x
        exact = ""
        columns: list[int] = []
        if rounded is not None:
            columns = np.flatnonzero(~rounded).tolist()
            kept = self.numbers(f"{x}:kept", *columns)
            exact = self.node("Gather", [x, kept], axis=1)
            # the runtime does the cast once, while it loads the graph
            ones = self.node("Cast", [self.constant(f"{x}:others", rounded)], to=TensorProto.FLOAT)
            even = self.node("Mul", [even, ones])
        last = self.numbers("last", -1)
        sizes = self.node("Abs", [even])
        largest = self.node("ReduceMax", [sizes, last], keepdims=0)
        least = self.constant("least", np.float32(1e-9))
        some = self.node("Max", [largest, least])
        steps = self.constant("steps", np.float32(127))
        scales = self.node("Div", [some, steps])
        middle = self.constant("middles", np.array([128], np.uint8))
        shape = self.node("Shape", [scales])
        middles = self.node("Expand", [middle, shape])
        values = self.node("QuantizeLinear", [even, scales, middles], axis=0)
        column = self.node("Unsqueeze", [scales, last])
        self._quantised[x] = Quantised(values, column, exact, columns)
        return self._quantised[x]

    def product(self, x: str, name: str, rounded: Any = None) -> str:
        """Multiply x with the matrix `name`; its bias is not added.

        Args:
            x: The rows.
            name: The matrix.
            rounded: As in `quantised`.
        """
        return self.quantised_product(self.quantised(x, rounded), name)

    def quantised_product(self, x: Quantised, name: str) -> str:
        """Multiply quantised rows with the matrix `name`."""
        entry: dict[str, Any] = {"tensor": name, "form": "columns"}
        if x.exact:
            entry["kept"] = list(x.columns)
        self.layout.append(entry)
        one = self.constant("one", np.float32(1))
        middle = self.constant("middle", np.array(128, np.uint8))
        inputs = [x.values, f"{name}:int8", one, f"{name}:scale", middle]
        product = self.node("MatMulIntegerToFloat", inputs, RUNTIME)
        made = self.node("Mul", [product, x.scales])
        return self.node("Gemm", [x.exact, f"{name}:kept", made]) if x.exact else made

    def words(self, name: str) -> str:
        """Look up the rows of the table `name` for the input `ids`."""
        self.tensor(name, "rows")
        rows = self.node("Gather", [f"{name}:int8", "ids"])
        values = self.node("Cast", [rows], to=TensorProto.FLOAT)
        scales = self.node("Gather", [f"{name}:scale", "ids"])
        return self.node("Mul", [values, scales])

    def normalised(self, x: str, name: str) -> str:
        """Add the layer norm of x, whose gain and bias are named after it."""
        gain = self.tensor(f"{name}.weight")
        bias = self.tensor(f"{name}.bias")
        return self.node("LayerNormalization", [x, gain, bias], axis=-1, epsilon=self._epsilon)

    def residual(self, x: str, inner: str, dense: str, norm: str, rounded: Any = None) -> str:
        """Add the layer norm of x and a dense layer's output.

        Args:
            x: The input of the block.
            inner: The input of the dense layer.
            dense: The name of the dense layer.
            norm: The name of the layer norm.
            rounded: As in `quantised`.
        """
        product = self.product(inner, f"{dense}.weight", rounded)
        made = self.node("Add", [product, self.tensor(f"{dense}.bias")])
        whole = self.node("Add", [made, x])
        return self.normalised(whole, norm)
