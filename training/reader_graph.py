"""Make the base verifier's int8 graph without its weights.

    python -m training.reader_graph --adapter attribution/verifiers/base

The graph is the same for every adapter; `attribution.models.merge` fills in the weights. It turns
the token ids of one pair into logits. The relative position bias and the head stay in float32, and
so do a few columns that range far beyond the others, measured on the example library. Of the last
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

from attribution.models import merge
from attribution.models.mpnet import WEIGHTS, base_files
from attribution.settings import ROOT
from attribution.text.sentences import sentences
from attribution.verifiers.reader import BASE
from training import command
from training.graphs import RUNTIME, Graph, Quantised, input_ranges

LIBRARY, PAIRS = ROOT / "examples" / "library", 60  # what the ranges are seen on
# Columns of the inputs that stay in float32; those of attn.o range evenly.
KEPT = {"attention": 16, "intermediate": 16, "output": 32}
LABELS = ("entailment", "neutral", "contradiction")
_ALIGNED = 64  # bytes
PARTS = ("int8", "scale", "kept")  # of a weight
PADDING = 1  # MPNet's positions are counted from the one after this token's


def torch_model(weights: merge.Merged, config_folder: Path) -> Any:
    """Return the merged weights in transformers' own model, in float32.

    Args:
        weights: Those of base and adapter.
        config_folder: It has the base's config.json.
    """
    import torch
    from transformers import AutoConfig, MPNetForSequenceClassification

    config = AutoConfig.from_pretrained(config_folder)
    config.update({"num_labels": len(LABELS)})
    config._attn_implementation = "eager"
    model = MPNetForSequenceClassification(config).eval()
    names = [name for name in model.state_dict() if "position_ids" not in name]
    model.load_state_dict({name: torch.tensor(weights[name]) for name in names}, strict=False)
    return model


def far_ranging(model: Any, pairs: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    """Return the columns of each layer's inputs that range furthest.

    Args:
        model: The merged model.
        pairs: Token ids, of which the ranges are measured.

    Returns:
        Columns by "LAYER attention", "LAYER intermediate" and "LAYER output".
    """
    import torch

    def run() -> None:
        for ids in pairs:
            tokens = torch.tensor([ids])
            model(input_ids=tokens, attention_mask=torch.ones_like(tokens))

    modules = []
    for number, layer in enumerate(model.mpnet.encoder.layer):
        modules.append((f"{number} attention", layer.attention.attn.q))
        modules.append((f"{number} intermediate", layer.intermediate.dense))
        modules.append((f"{number} output", layer.output.dense))
    columns: dict[str, list[int]] = {}
    for name, of_columns in input_ranges(modules, run).items():
        count = KEPT[name.split()[1]]
        columns[name] = sorted(of_columns.topk(count).indices.tolist())
    return columns


def library_pairs(tokenizer: Any) -> list[list[int]]:
    """Return the token ids of two sentences of each article, as premise and claim."""
    pairs: list[list[int]] = []
    for path in sorted(LIBRARY.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        spans = [(start, end) for start, end in sentences(text) if 40 <= end - start <= 300]
        ids = [tokenizer.encode(text[a:b], add_special_tokens=False).ids for a, b in spans[:2]]
        if len(ids) == 2:
            premise, claim = ids
            pairs.append([BASE.first, *premise, *BASE.separator, *claim, BASE.separator[0]])
    return pairs[:PAIRS]


class Network(Graph):
    """MPNet with a head of three classes, node by node.

    Every method returns the name of its output.
    """

    def __init__(self, config: Any, exact: Mapping[str, Sequence[int]]) -> None:
        """Prepare the constants that all layers use.

        Args:
            config: That of MPNet.
            exact: The columns that stay in float32, as `far_ranging` returns them.
        """
        super().__init__(config.layer_norm_eps)
        self.config = config
        self._exact = exact
        self.batch = self.numbers("batch", 0)
        self.first = self.numbers("first", 1)  # the end of the first row, or the axis

    def rounded(self, name: str, width: int) -> Any:
        """Return True for the columns of an input that are quantised.

        Args:
            name: As `far_ranging` names it.
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
        exact: The columns that stay in float32, as `far_ranging` returns them.
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
    from onnx import TensorProto, helper, numpy_helper

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
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [len(LABELS)])
    made = helper.make_graph(
        graph.nodes, "all-mpnet-base-v2 with an adapter", [ids], [logits], graph.constants
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(RUNTIME, 1)]
    (out / merge.GRAPH).write_bytes(
        helper.make_model(made, opset_imports=opsets, ir_version=10).SerializeToString()
    )
    lines = ",\n".join(json.dumps(entry) for entry in layout)
    (out / merge.LAYOUT).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    parser = command(__doc__)
    parser.add_argument("--adapter", type=Path, default=Path("attribution/verifiers/base"))
    args = parser.parse_args(argv)
    from tokenizers import Tokenizer
    from transformers import AutoConfig

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        base_files(folder, ("config.json", "tokenizer.json", WEIGHTS))
        weights = merge.Merged(folder / WEIGHTS, args.adapter)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        exact = far_ranging(torch_model(weights, folder), library_pairs(tokenizer))
        write(network(AutoConfig.from_pretrained(folder), exact), weights, args.adapter)
        shutil.copy(folder / "tokenizer.json", args.adapter)
    print(
        f"{args.adapter / merge.GRAPH}: {(args.adapter / merge.GRAPH).stat().st_size / 1e3:.0f} kB"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
