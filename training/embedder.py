"""Make the graph of the embedder `minilm`, without its weights: model.onnx and layout.json.

    python -m training.embedder

The graph reads one text: token ids to a vector of length 1. Weights are int8 with a scale for each column, and
activations are quantised while it runs, each token by its own largest value. Written by hand, not exported: with the
runtime's own operators for attention, GELU and the products, a text takes two thirds of the time of an exported graph.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attribution.embedders.minilm import FACTORS, FOLDER, GRAPH, LAYOUT, TOKENS, package_folder, weights
from attribution.settings import ROOT

LIBRARY, TEXT = ROOT / "examples" / "library", 1000  # what the ranges are seen on, characters of each
LAYERS, HEADS, WIDTH = 6, 12, 384
EPSILON = 1e-12
_RUNTIME = "com.microsoft"  # the domain of onnxruntime's own operators


class Graph:
    """Nodes and constants while they are collected; every method returns the name of its output."""

    def __init__(self) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._arrays = helper, numpy_helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.layout: list[dict[str, str]] = []
        self._quantised: dict[str, tuple[str, str]] = {}

    def node(self, kind: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(self._helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def constant(self, name: str, value: Any) -> str:
        if all(c.name != name for c in self.constants):
            self.constants.append(self._arrays.from_array(np.asarray(value), name))
        return name

    def tensor(self, name: str, form: str = "float") -> str:
        """A tensor of the package; its array comes when the graph is loaded."""
        self.layout.append({"tensor": name, "form": form})
        return name

    def quantised(self, x: str, factors: str) -> tuple[str, str]:
        """(uint8 values around 128, scales as a column): each row by its own largest value."""
        if x not in self._quantised:
            self.layout.append({"tensor": factors, "form": "factors"})
            even = self.node("Mul", [x, f"{factors}:inverse"])
            last = self.constant("last", np.array([-1], np.int64))
            largest = self.node("ReduceMax", [self.node("Abs", [even]), last], keepdims=0)
            some = self.node("Max", [largest, self.constant("least", np.float32(1e-9))])
            scales = self.node("Div", [some, self.constant("steps", np.float32(127))])
            middles = self.node(
                "Expand", [self.constant("middles", np.array([128], np.uint8)), self.node("Shape", [scales])]
            )
            values = self.node("QuantizeLinear", [even, scales, middles], axis=0)
            self._quantised[x] = values, self.node("Unsqueeze", [scales, last])
        return self._quantised[x]

    def product(self, x: str, name: str) -> str:
        """x times the matrix `name`, without its bias."""
        factors = input_of(name)
        values, scales = self.quantised(x, factors)
        self.layout.append({"tensor": name, "form": "columns", "factors": factors})
        one, middle = self.constant("one", np.float32(1)), self.constant("middle", np.array(128, np.uint8))
        inputs = [values, f"{name}:int8", one, f"{name}:scale", middle]
        return self.node("Mul", [self.node("MatMulIntegerToFloat", inputs, _RUNTIME), scales])

    def normalised(self, x: str, name: str) -> str:
        gain, bias = self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias")
        return self.node("LayerNormalization", [x, gain, bias], axis=-1, epsilon=EPSILON)


def input_of(matrix: str) -> str:
    """The name of the input that a matrix shares with others."""
    return matrix.removesuffix(".weight").replace(".query", "").replace(".key", "").replace(".value", "")


def evening_factors(texts: Sequence[str]) -> dict[str, Any]:
    """For each input of a product: the root of how far its columns range in these texts, over that of its weights."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    network = AutoModel.from_pretrained(package_folder()).eval()
    tokenizer = AutoTokenizer.from_pretrained(package_folder())
    ranges: dict[str, Any] = {}
    columns: dict[str, Any] = {}

    def watch(name: str, linear: Any) -> None:
        shared = input_of(name)
        largest = linear.weight.detach().abs().amax(0)
        columns[shared] = torch.maximum(columns.get(shared, largest), largest)

        def seen(_: Any, inputs: Any) -> None:
            largest = inputs[0].abs().flatten(0, -2).amax(0)
            ranges[shared] = torch.maximum(ranges.get(shared, largest), largest)

        linear.register_forward_pre_hook(seen)

    for name, module in network.encoder.named_modules(prefix="encoder"):
        if isinstance(module, torch.nn.Linear):
            watch(name, module)
    for text in texts:
        with torch.inference_mode():
            network(**tokenizer(text, truncation=True, max_length=TOKENS, return_tensors="pt"))
    factors = {name: (ranges[name].clamp(min=1e-5) / columns[name].clamp(min=1e-5)).sqrt() for name in ranges}
    return {name: (f / f.mean()).numpy().astype(np.float16) for name, f in factors.items()}


def embeddings(graph: Graph) -> str:
    words = graph.tensor("embeddings.word_embeddings.weight", "rows")
    from onnx import TensorProto

    values = graph.node("Cast", [graph.node("Gather", [f"{words}:int8", "ids"])], to=TensorProto.FLOAT)
    word = graph.node("Mul", [values, graph.node("Gather", [f"{words}:scale", "ids"])])
    first, start = graph.constant("first", np.array([0], np.int64)), graph.node("Shape", ["ids"])
    position = graph.node("Slice", [graph.tensor("embeddings.position_embeddings.weight"), first, start, first])
    kind = graph.node(
        "Gather", [graph.tensor("embeddings.token_type_embeddings.weight"), graph.constant("zero", np.int64(0))]
    )
    return graph.normalised(graph.node("Add", [graph.node("Add", [word, position]), kind]), "embeddings.LayerNorm")


def layer(graph: Graph, x: str, number: int) -> str:
    name = f"encoder.layer.{number}"
    own = f"{name}.attention.self"
    batch = graph.constant("batch", np.array([0], np.int64))
    parts = [graph.node("Unsqueeze", [graph.product(x, f"{own}.{p}.weight"), batch]) for p in ("query", "key", "value")]
    bias = graph.node("Concat", [graph.tensor(f"{own}.{p}.bias") for p in ("query", "key", "value")], axis=0)
    attended = graph.node("MultiHeadAttention", [*parts, bias], _RUNTIME, num_heads=HEADS)
    x = _residual(graph, x, graph.node("Squeeze", [attended, batch]), f"{name}.attention.output")
    wide = graph.product(x, f"{name}.intermediate.dense.weight")
    active = graph.node("BiasGelu", [wide, graph.tensor(f"{name}.intermediate.dense.bias")], _RUNTIME)
    return _residual(graph, x, active, f"{name}.output")


def _residual(graph: Graph, x: str, inner: str, name: str) -> str:
    made = graph.node("Add", [graph.product(inner, f"{name}.dense.weight"), graph.tensor(f"{name}.dense.bias")])
    return graph.normalised(graph.node("Add", [made, x]), f"{name}.LayerNorm")


def model(source: Any, factors: Mapping[str, Any]) -> tuple[Any, list[dict[str, str]]]:
    """The graph as onnx.ModelProto, and its layout; `source` gives a tensor by its name."""
    from onnx import TensorProto, helper, numpy_helper

    graph = Graph()
    x = embeddings(graph)
    for number in range(LAYERS):
        x = layer(graph, x, number)
    mean = graph.node("ReduceMean", [x, graph.constant("first", np.array([0], np.int64))], keepdims=0)
    graph.nodes.append(helper.make_node("LpNormalization", [mean], ["vector"], axis=-1, p=2))
    for name, array in weights(graph.layout, source, factors).items():
        tensor = numpy_helper.from_array(array, name)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="given when it is loaded")
        graph.constants.append(tensor)
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [WIDTH])
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", [ids], [vector], graph.constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(_RUNTIME, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=10), graph.layout


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=FOLDER)
    args = parser.parse_args(argv)
    from safetensors import safe_open

    held: Any = safe_open(str(package_folder() / "model.safetensors"), "numpy")
    texts = [path.read_text(encoding="utf-8")[:TEXT] for path in sorted(LIBRARY.glob("*.md"))]
    factors = evening_factors(texts)
    made, layout = model(held.get_tensor, factors)
    np.savez(args.out / FACTORS, **factors)
    (args.out / GRAPH).write_bytes(made.SerializeToString())
    lines = ",\n".join(json.dumps(entry) for entry in layout)
    (args.out / LAYOUT).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{args.out / GRAPH}: {(args.out / GRAPH).stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
