"""Make the graph of the embedder `minilm`, without its weights.

    python -m training.embedder

It turns the token ids of one text into a vector of length 1. It is written by hand: with the
runtime's own operators for attention, GELU and the products, a text takes two thirds of the time of
an exported graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attribution.embedders.minilm import (
    FACTORS,
    FOLDER,
    GRAPH,
    LAYOUT,
    TOKENS,
    graph_weights,
    package_folder,
)
from attribution.settings import ROOT
from training import command
from training.graphs import RUNTIME, Graph, input_ranges

LIBRARY = ROOT / "examples" / "library"  # texts on which the ranges are measured
TEXT = 1000  # characters of each
LAYERS, HEADS, WIDTH = 6, 12, 384
PARTS = ("query", "key", "value")
EPSILON = 1e-12
LEAST = 1e-5  # range of a column


def input_of(matrix: str) -> str:
    """Return the name of the input that a matrix shares with others."""
    return re.sub(r"\.(?:query|key|value)\b", "", matrix.removesuffix(".weight"))


def evening_factors(texts: Sequence[str]) -> dict[str, Any]:
    """Return the factors that even out the columns of each product's input.

    A factor is the root of the ratio of a column's range in these texts to that of its weights.

    Args:
        texts: What the ranges are measured on.

    Returns:
        Factors in half precision, by the name of the input.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    network = AutoModel.from_pretrained(package_folder()).eval()
    tokenizer = AutoTokenizer.from_pretrained(package_folder())
    modules = network.encoder.named_modules(prefix="encoder")
    linears: list[tuple[str, Any]] = []
    columns: dict[str, Any] = {}
    for name, module in modules:
        if isinstance(module, torch.nn.Linear):
            shared = input_of(name)
            linears.append((shared, module))
            largest = module.weight.detach().abs().amax(0)
            columns[shared] = torch.maximum(columns.get(shared, largest), largest)

    def run() -> None:
        for text in texts:
            network(**tokenizer(text, truncation=True, max_length=TOKENS, return_tensors="pt"))

    factors: dict[str, Any] = {}
    for name, of_inputs in input_ranges(linears, run).items():
        ratio = of_inputs.clamp(min=LEAST) / columns[name].clamp(min=LEAST)
        factor = ratio.sqrt()
        factors[name] = (factor / factor.mean()).numpy().astype(np.float16)
    return factors


def embeddings(graph: Graph) -> str:
    """Build the vectors of words, positions and kinds, (tokens, width)."""
    word = graph.words("embeddings.word_embeddings.weight")
    first = graph.numbers("first", 0)
    length = graph.node("Shape", ["ids"])
    positions = graph.tensor("embeddings.position_embeddings.weight")
    position = graph.node("Slice", [positions, first, length, first])
    kinds = graph.tensor("embeddings.token_type_embeddings.weight")
    zero = graph.constant("zero", np.int64(0))
    kind = graph.node("Gather", [kinds, zero])
    placed = graph.node("Add", [word, position])
    whole = graph.node("Add", [placed, kind])
    return graph.normalised(whole, "embeddings.LayerNorm")


def layer(graph: Graph, x: str, number: int) -> str:
    """Build a layer: attention, and a dense network, each with a residual."""
    name = f"encoder.layer.{number}"
    batch = graph.numbers("batch", 0)
    parts: list[str] = []
    for part in PARTS:
        product = _product(graph, x, f"{name}.attention.self.{part}.weight")
        parts.append(graph.node("Unsqueeze", [product, batch]))
    biases = [graph.tensor(f"{name}.attention.self.{part}.bias") for part in PARTS]
    bias = graph.node("Concat", biases, axis=0)
    attended = graph.node("MultiHeadAttention", [*parts, bias], RUNTIME, num_heads=HEADS)
    rows = graph.node("Squeeze", [attended, batch])
    x = _residual(graph, x, rows, f"{name}.attention.output")
    wide = _product(graph, x, f"{name}.intermediate.dense.weight")
    bias = graph.tensor(f"{name}.intermediate.dense.bias")
    active = graph.node("BiasGelu", [wide, bias], RUNTIME)
    return _residual(graph, x, active, f"{name}.output")


def _product(graph: Graph, x: str, matrix: str) -> str:
    """Multiply x with a matrix whose input is evened out."""
    return graph.product(x, matrix, input_of(matrix))


def _residual(graph: Graph, x: str, inner: str, name: str) -> str:
    """Add a dense layer of `inner` to x, and norm the sum."""
    dense = f"{name}.dense"
    return graph.residual(x, inner, dense, f"{name}.LayerNorm", input_of(f"{dense}.weight"))


def model(source: Any, factors: Mapping[str, Any]) -> tuple[Any, list[dict[str, Any]]]:
    """Build the graph.

    Args:
        source: Returns a tensor by its name.
        factors: As `evening_factors` returns them.

    Returns:
        An onnx.ModelProto, and the layout of its weights.
    """
    from onnx import TensorProto, helper, numpy_helper

    graph = Graph(EPSILON)
    x = embeddings(graph)
    for number in range(LAYERS):
        x = layer(graph, x, number)
    mean = graph.node("ReduceMean", [x, graph.numbers("first", 0)], keepdims=0)
    graph.nodes.append(helper.make_node("LpNormalization", [mean], ["vector"], axis=-1, p=2))
    for name, array in graph_weights(graph.layout, source, factors).items():
        tensor = numpy_helper.from_array(array, name)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="given when it is loaded")
        graph.constants.append(tensor)
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [WIDTH])
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", [ids], [vector], graph.constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(RUNTIME, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=10), graph.layout


def main(argv: list[str] | None = None) -> int:
    parser = command(__doc__)
    parser.parse_args(argv)
    from safetensors import safe_open

    held: Any = safe_open(str(package_folder() / "model.safetensors"), "numpy")
    texts = [path.read_text(encoding="utf-8")[:TEXT] for path in sorted(LIBRARY.glob("*.md"))]
    factors = evening_factors(texts)
    np.savez(FOLDER / FACTORS, **factors)
    made, layout = model(held.get_tensor, factors)
    graph = FOLDER / GRAPH
    graph.write_bytes(made.SerializeToString())
    lines = ",\n".join(json.dumps(entry) for entry in layout)
    (FOLDER / LAYOUT).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{graph}: {graph.stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
