"""Teach the small reader what the larger one is taught: its graph's weights to torch, and back.

python -m training.reader --small --fresh --rank 32 --rate 4e-4 --data FOLDER --out build/small
python -m training.small --adapter build/small
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper

from attribution.models.files import SUMS, digest
from attribution.verifiers.reader import SMALL
from training import command

GRAPH = SMALL.folder / "model.onnx"
OUTER = "inner."  # what the graph's names begin with before those of transformers
QUANTISED = "_quantized"
LARGEST = 127  # of int8
Floats = NDArray[np.float32]


def load() -> tuple[Any, Any]:
    """Return the shipped network in float32, and its tokenizer."""
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    config = BertConfig(
        hidden_size=384,
        intermediate_size=1536,
        num_labels=3,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        classifier_dropout=0.1,
    )
    model = BertForSequenceClassification(config)
    weights = {name: torch.tensor(value) for name, value in _weights(onnx.load(GRAPH)).items()}
    model.load_state_dict(weights)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(SMALL.folder / "tokenizer.json"),
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    return model, tokenizer


def _matrices(graph: Any) -> dict[str, str]:
    """Return the stem of each quantised matrix of a graph, by the name of its weight."""
    readers = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            readers[name].append(node)
    biases = {tensor.name for tensor in graph.initializer if tensor.name.endswith(".bias")}
    stems: dict[str, str] = {}
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        added = node
        for _ in ("as floats", "scaled", "with its bias"):
            added = readers[added.output[0]][0]
        bias = next(name for name in added.input if name in biases)
        weight = bias.removeprefix(OUTER).replace(".bias", ".weight")
        stems[weight] = node.input[1].removesuffix(QUANTISED)
    return stems


def _weights(model: Any) -> dict[str, Floats]:
    """Return the weights of a graph by their names in transformers."""
    arrays = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    weights: dict[str, Floats] = {}
    for name, array in arrays.items():
        if name.startswith(OUTER) and name.endswith((".weight", ".bias")):
            weights[name.removeprefix(OUTER)] = array
    rows = {n.output[0]: n.input[0] for n in model.graph.node if n.op_type == "Gather"}
    for node in model.graph.node:
        if node.op_type == "DequantizeLinear":  # of a table of embeddings, or of rows of it
            table = rows.get(node.input[0], node.input[0])
            scale, zero = (arrays[name].astype(np.float32) for name in node.input[1:])
            stem = table.removesuffix(QUANTISED)
            weights[stem.removeprefix(OUTER)] = (arrays[table] - zero) * scale
    for weight, stem in _matrices(model.graph).items():
        values = arrays[stem + QUANTISED].astype(np.float32)
        weights[weight] = (values * arrays[f"{stem}_scale"]).T
    return weights


def write(trained: Any) -> None:
    """Put the weights of a trained network into the shipped graph."""
    model = onnx.load(GRAPH)
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    weights = {name: value.numpy() for name, value in trained.state_dict().items()}
    stems = _matrices(model.graph)
    for name, value in weights.items():
        if name in stems:
            columns = np.ascontiguousarray(value.T)
            scale = np.abs(columns).max(axis=0) / LARGEST
            _replace(tensors[f"{stems[name]}_scale"], scale)
            _replace(tensors[stems[name] + QUANTISED], np.round(columns / scale).astype(np.int8))
        elif OUTER + name in tensors:
            _replace(tensors[OUTER + name], value)
    onnx.save(model, GRAPH)


def _replace(tensor: Any, value: NDArray[Any]) -> None:
    tensor.CopyFrom(numpy_helper.from_array(value, tensor.name))


def main() -> None:
    from training.reader import with_adapter

    parser = command(__doc__)
    parser.add_argument("--adapter", type=Path, required=True)
    args = parser.parse_args()
    model, _ = load()
    write(with_adapter(model, args.adapter).merge_and_unload())
    print(f"{GRAPH}: put its SHA-256, {digest(GRAPH)}, into {SUMS}")


if __name__ == "__main__":
    main()
