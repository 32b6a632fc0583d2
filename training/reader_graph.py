"""Make the base verifier's int8 graph without its weights.

    python -m training.reader_graph --adapter attribution/verifiers/base

The graph is the same for every adapter; `attribution.models.merge` fills in the weights. It turns
the token ids of one pair into logits. The relative position bias and the head stay in float32, and
so do the columns named in the layout that is there: a few that range far beyond the others, as
measured on the example library (by the program in the history at commit e1e33d48). Of the last
layer, only what the first token needs is computed.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from transformers import AutoConfig

from attribution.models import merge
from attribution.models.mpnet import WEIGHTS, base_files
from attribution.verifiers.reader import BASE
from training import command
from training.graphs import RUNTIME, Graph, Quantised
from training.pairs import RELATIONS

_ALIGNED = 64  # bytes
PARTS = ("int8", "scale", "kept")  # of a weight
PADDING = 1  # MPNet's positions are counted from the one after this token's


def kept_columns(layout: Path) -> dict[str, list[int]]:
    """Return the columns of each layer's inputs that stay in float32.

    Those of the inputs of `attn.o` range evenly, so all are quantised.

    Args:
        layout: A file that `write` made.

    Returns:
        Columns by "LAYER attention", "LAYER intermediate" and "LAYER output".
    """
    columns: dict[str, list[int]] = {}
    for entry in json.loads(layout.read_text(encoding="utf-8")):
        if "kept" in entry:
            _, _, _, number, part, *_ = entry["tensor"].split(".")
            columns[f"{number} {part}"] = entry["kept"]
    return columns


class Network(Graph):
    """MPNet with a head of three classes, node by node.

    Every method returns the name of its output.
    """

    def __init__(self, config: Any, exact: Mapping[str, Sequence[int]]) -> None:
        """Prepare the constants that all layers use.

        Args:
            config: That of MPNet.
            exact: The columns that stay in float32, as `kept_columns` returns them.
        """
        super().__init__(config.layer_norm_eps)
        self.config = config
        self._exact = exact
        self.batch = self.numbers("batch", 0)
        self.first = self.numbers("first", 1)  # the end of the first row, or the axis

    def rounded(self, name: str, width: int) -> Any:
        """Return True for the columns of an input that are quantised.

        Args:
            name: As `kept_columns` names it.
            width: The number of columns.
        """
        columns = np.ones(width, bool)
        columns[list(self._exact[name])] = False
        return columns

    def first_row(self, x: str) -> str:
        """Keep the first token."""
        return self.node("Slice", [x, self.batch, self.first, self.batch])

    def embeddings(self) -> str:
        """Build the vectors of words and positions, (tokens, width)."""
        word = self.words("mpnet.embeddings.word_embeddings.weight")
        start = self.numbers("start", PADDING + 1)
        length = self.node("Shape", ["ids"])
        end = self.node("Add", [length, start])
        table = self.tensor("mpnet.embeddings.position_embeddings.weight")
        position = self.node("Slice", [table, start, end, self.batch])
        whole = self.node("Add", [word, position])
        return self.normalised(whole, "mpnet.embeddings.LayerNorm")

    def position_bias(self) -> str:
        """Build what the distance of two tokens adds to their attention.

        Its shape is (1, heads, tokens, tokens). Distances fall into buckets, each with a weight for
        every head.
        """
        import torch
        from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

        furthest = self.config.max_position_embeddings
        distances = torch.arange(-furthest, furthest + 1)
        buckets = MPNetEncoder.relative_position_bucket(
            distances, num_buckets=self.config.relative_attention_num_buckets
        )
        shape = self.node("Shape", ["ids"])
        tokens = self.node("Squeeze", [shape, self.batch])
        nought = self.constant("nought", np.int64(0))
        one = self.constant("step", np.int64(1))
        place = self.node("Range", [nought, tokens, one])
        row = self.node("Unsqueeze", [place, self.batch])
        column = self.node("Unsqueeze", [place, self.first])
        apart = self.node("Sub", [row, column])
        index = self.node("Add", [apart, self.constant("furthest", np.int64(furthest))])
        bucket = self.node("Gather", [self.constant("buckets", buckets.numpy()), index])
        table = self.tensor("mpnet.encoder.relative_attention_bias.weight")
        bias = self.node("Gather", [table, bucket])
        by_head = self.node("Transpose", [bias], perm=[2, 0, 1])
        return self.node("Unsqueeze", [by_head, self.batch])

    def layer(self, x: str, number: int, position_bias: str, last: bool) -> str:
        """Build a layer.

        Args:
            x: The rows, (tokens, width).
            number: Which layer it is, from 0.
            position_bias: As built by the method of this name.
            last: Build the first row alone, which is all that the head reads.
        """
        name = f"mpnet.encoder.layer.{number}"
        attention = f"{name}.attention"
        width, inner = self.config.hidden_size, self.config.intermediate_size
        rows = x
        whole = self.quantised(x, rounded=self.rounded(f"{number} attention", width))
        asking = whole
        if last:
            values, scales, exact = map(self.first_row, whole[:3])
            rows = self.first_row(x)
            asking = Quantised(values, scales, exact, whole.columns)
            queries = self.numbers("second", 2)  # the axis
            position_bias = self.node("Slice", [position_bias, self.batch, self.first, queries])
        attended = self.attended(asking, whole, f"{attention}.attn", position_bias)
        x = self.residual(rows, attended, f"{attention}.attn.o", f"{attention}.LayerNorm")
        rounded = self.rounded(f"{number} intermediate", width)
        wide = self.product(x, f"{name}.intermediate.dense.weight", rounded=rounded)
        bias = self.tensor(f"{name}.intermediate.dense.bias")
        active = self.node("BiasGelu", [wide, bias], RUNTIME)
        rounded = self.rounded(f"{number} output", inner)
        output = f"{name}.output"
        return self.residual(x, active, f"{output}.dense", f"{output}.LayerNorm", rounded=rounded)

    def attended(self, asking: Quantised, whole: Quantised, name: str, position_bias: str) -> str:
        """Build what the rows of `asking` take from all rows, (rows, width)."""
        products = [self.quantised_product(asking, f"{name}.q.weight")]
        products += [self.quantised_product(whole, f"{name}.{part}.weight") for part in "kv"]
        parts = [self.node("Unsqueeze", [product, self.batch]) for product in products]
        bias = self.node("Concat", [self.tensor(f"{name}.{part}.bias") for part in "qkv"], axis=0)
        inputs = [*parts, bias, "", position_bias]
        heads = self.config.num_attention_heads
        attended = self.node("MultiHeadAttention", inputs, RUNTIME, num_heads=heads)
        return self.node("Squeeze", [attended, self.batch])

    def head(self, x: str) -> str:
        """Build the logits of the first row."""
        weights = [self.tensor(f"classifier.dense.{part}") for part in ("weight", "bias")]
        dense = self.node("Gemm", [x, *weights], transB=1)
        weights = [self.tensor(f"classifier.out_proj.{part}") for part in ("weight", "bias")]
        active = self.node("Tanh", [dense])
        return self.node("Gemm", [active, *weights], transB=1)


def network(config: Any, exact: Mapping[str, Sequence[int]]) -> Network:
    """Build the nodes from the input `ids` to the output `logits`.

    Args:
        config: That of MPNet.
        exact: The columns that stay in float32, as `kept_columns` returns them.
    """
    graph = Network(config, exact)
    x, bias = graph.embeddings(), graph.position_bias()
    for number in range(config.num_hidden_layers):
        x = graph.layer(x, number, bias, last=number == config.num_hidden_layers - 1)
    graph.nodes.append(graph.made("Squeeze", [graph.head(x), graph.batch], "logits"))
    return graph


def write(graph: Network, weights: merge.Merged, out: Path) -> None:
    """Write the graph without its weights, and the layout of a file beside it that has them.

    Args:
        graph: The nodes.
        weights: Their forms and sizes make the layout.
        out: The folder of the adapter.
    """
    layout: list[dict[str, Any]] = []
    place = 0
    for entry in graph.layout:
        name, form = entry["tensor"], entry["form"]
        is_turned = form == "columns"
        array = np.ascontiguousarray(weights[name].T) if is_turned else weights[name]
        labels = [name] if form == "float" else [f"{name}:{part}" for part in PARTS]
        parts = merge.formed(array, form, entry.get("kept", ()))
        offsets: list[int] = []
        for label, values in zip(labels, parts, strict=False):
            tensor = numpy_helper.from_array(values, label)
            size = len(tensor.raw_data)
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value=merge.WEIGHTS)
            tensor.external_data.add(key="offset", value=str(place))
            tensor.external_data.add(key="length", value=str(size))
            graph.constants.append(tensor)
            offsets.append(place)
            place += -(-size // _ALIGNED) * _ALIGNED
        layout.append(entry | {"transposed": is_turned, "offsets": offsets})
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [len(RELATIONS)])
    made = helper.make_graph(
        graph.nodes, "all-mpnet-base-v2 with an adapter", [ids], [logits], graph.constants
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(RUNTIME, 1)]
    (out / merge.GRAPH).write_bytes(
        helper.make_model(made, opset_imports=opsets, ir_version=10).SerializeToString()
    )
    lines = ",\n".join(json.dumps(entry) for entry in layout)
    (out / merge.LAYOUT).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--adapter", type=Path, default=BASE.folder)
    adapter = parser.parse_args().adapter
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        base_files(folder, ("config.json", "tokenizer.json", WEIGHTS))
        weights = merge.Merged(folder / WEIGHTS, adapter)
        exact = kept_columns(adapter / merge.LAYOUT)
        write(network(AutoConfig.from_pretrained(folder), exact), weights, adapter)
        shutil.copy(folder / "tokenizer.json", adapter)


if __name__ == "__main__":
    main()
