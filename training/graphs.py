"""Write graphs of onnxruntime's own operators by hand, with int8 products.

Weights are int8 with a scale for each column. Activations are quantised while the graph runs, each
token by its own largest value. With one scale for a whole text, as in onnxruntime's dynamic
quantisation, probabilities were up to 0.4 off and depended on the other texts of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

RUNTIME = "com.microsoft"  # the domain of onnxruntime's own operators


def input_ranges(modules: Iterable[tuple[str, Any]], run: Callable[[], None]) -> dict[str, Any]:
    """Return the largest absolute value in each column of the modules' inputs during `run`.

    Args:
        modules: Torch modules, each after its name.
    """
    import torch

    ranges: dict[str, Any] = {}

    def watch(name: str, module: Any) -> Any:
        def seen(_: Any, inputs: Any) -> None:
            largest = inputs[0].abs().flatten(0, -2).amax(0)
            ranges[name] = torch.maximum(ranges.get(name, largest), largest)

        return module.register_forward_pre_hook(seen)

    watches = [watch(name, module) for name, module in modules]
    try:
        with torch.inference_mode():
            run()
    finally:
        for handle in watches:
            handle.remove()
    return ranges


class Quantised(NamedTuple):
    """The input of a product, by the names of its parts."""

    values: str  # uint8 around 128
    scales: str  # of each row, as a column
    exact: str = ""  # the columns that are not quantised
    columns: Sequence[int] = ()  # which these are


class Graph:
    """Nodes and constants while they are collected; every method returns the name of its output."""

    def __init__(self, epsilon: float) -> None:
        """`epsilon` is that of the layer norms."""
        from onnx import TensorProto, helper, numpy_helper

        self._float = TensorProto.FLOAT
        self._helper, self._arrays, self._epsilon = helper, numpy_helper, epsilon
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.layout: list[dict[str, Any]] = []
        self._quantised: dict[str, Quantised] = {}

    def node(self, kind: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(self.made(kind, inputs, output, domain=domain, **attributes))
        return output

    def made(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> Any:
        """A node by itself."""
        return self._helper.make_node(kind, inputs, [output], **attributes)

    def constant(self, name: str, value: Any) -> str:
        if all(c.name != name for c in self.constants):
            self.constants.append(self._arrays.from_array(np.asarray(value), name))
        return name

    def tensor(self, name: str, form: str = "float") -> str:
        """A tensor of the model; its array comes when the graph is loaded."""
        self.layout.append({"tensor": name, "form": form})
        return name

    def quantised(self, x: str, factors: str = "", rounded: Any = None) -> Quantised:
        """Quantise each row by its own largest value.

        Args:
            factors: Name of the factors that the columns are divided by, so that they range evenly.
            rounded: True for the columns to quantise. A few that range far beyond the others stay
                in float32, or the others would lose their precision.
        """
        if x not in self._quantised:
            even = x
            if factors:
                self.layout.append({"tensor": factors, "form": "factors"})
                even = self.node("Mul", [x, f"{factors}:inverse"])
            exact, columns = "", []
            if rounded is not None:
                columns = np.flatnonzero(~rounded).tolist()
                exact = self.node(
                    "Gather", [x, self.constant(f"{x}:kept", np.array(columns, np.int64))], axis=1
                )
                # the runtime does the cast once, while it loads the graph
                ones = self.node("Cast", [self.constant(f"{x}:others", rounded)], to=self._float)
                even = self.node("Mul", [even, ones])
            last = self.constant("last", np.array([-1], np.int64))
            largest = self.node("ReduceMax", [self.node("Abs", [even]), last], keepdims=0)
            some = self.node("Max", [largest, self.constant("least", np.float32(1e-9))])
            scales = self.node("Div", [some, self.constant("steps", np.float32(127))])
            middles = self.node(
                "Expand",
                [self.constant("middles", np.array([128], np.uint8)), self.node("Shape", [scales])],
            )
            values = self.node("QuantizeLinear", [even, scales, middles], axis=0)
            self._quantised[x] = Quantised(
                values, self.node("Unsqueeze", [scales, last]), exact, columns
            )
        return self._quantised[x]

    def product(self, x: str, name: str, factors: str = "", rounded: Any = None) -> str:
        """x times the matrix `name`, without its bias."""
        return self.quantised_product(self.quantised(x, factors, rounded), name, factors)

    def quantised_product(self, x: Quantised, name: str, factors: str = "") -> str:
        """The product of `quantised`'s result and the matrix `name`."""
        more = {"factors": factors} if factors else {"kept": list(x.columns)} if x.exact else {}
        self.layout.append({"tensor": name, "form": "columns"} | more)
        one, middle = (
            self.constant("one", np.float32(1)),
            self.constant("middle", np.array(128, np.uint8)),
        )
        inputs = [x.values, f"{name}:int8", one, f"{name}:scale", middle]
        made = self.node("Mul", [self.node("MatMulIntegerToFloat", inputs, RUNTIME), x.scales])
        return self.node("Gemm", [x.exact, f"{name}:kept", made]) if x.exact else made

    def words(self, name: str) -> str:
        """The rows of the table `name` for the input `ids`."""
        self.tensor(name, "rows")
        values = self.node("Cast", [self.node("Gather", [f"{name}:int8", "ids"])], to=self._float)
        return self.node("Mul", [values, self.node("Gather", [f"{name}:scale", "ids"])])

    def normalised(self, x: str, name: str) -> str:
        gain, bias = self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias")
        return self.node("LayerNormalization", [x, gain, bias], axis=-1, epsilon=self._epsilon)

    def residual(
        self, x: str, inner: str, dense: str, norm: str, factors: str = "", rounded: Any = None
    ) -> str:
        """The layer norm of x and a dense layer's output for `inner`."""
        product = self.product(inner, f"{dense}.weight", factors, rounded)
        made = self.node("Add", [product, self.tensor(f"{dense}.bias")])
        return self.normalised(self.node("Add", [made, x]), norm)
