"""Export the larger verifier's int8 graph without its weights: model.onnx, layout.json and tokenizer.json.

    python -m training.larger.graph --adapter attribution/verifiers/base

The graph is the same for every adapter, so it is made once; merge.py fills in the weights. The relative
position bias and the head stay in float32.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from attribution.models import merge
from attribution.models.mpnet import base_file, base_weights
from training.data import LABELS

_ALIGNED = 64  # bytes


def torch_model(weights: merge.Merged, config_folder: Path) -> Any:
    """The merged weights in transformers' own model, float32."""
    import torch
    from transformers import AutoConfig, MPNetForSequenceClassification

    config = AutoConfig.from_pretrained(config_folder)
    config.update({"num_labels": len(LABELS)})
    config._attn_implementation = "eager"
    model = MPNetForSequenceClassification(config).eval()
    state = {name: torch.tensor(weights[name]) for name in weights.names()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    if unexpected or [name for name in missing if "position_ids" not in name]:
        raise ValueError(f"the weights do not fit: missing {missing}, unexpected {unexpected}")
    return model


def plain_graph(model: Any) -> Any:
    """The float32 graph, as onnx.ModelProto: input_ids and attention_mask to logits, any number of pairs and tokens."""
    import onnx
    import torch

    class Reader(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.inner(input_ids=input_ids, attention_mask=attention_mask).logits

    ids = torch.tensor([[0, 2023, 2003, 2, 2, 1037, 4366, 2], [0, 2023, 2, 2, 4366, 2, 1, 1]])
    names = ["input_ids", "attention_mask"]
    axes: Any = {name: {0: "pairs", 1: "tokens"} for name in names} | {"logits": {0: "pairs"}}
    made = io.BytesIO()
    torch.onnx.export(
        Reader().eval(), (ids, (ids != 1).long()), made,  # type: ignore[arg-type]
        input_names=names, output_names=["logits"], dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip
    return onnx.load_model_from_string(made.getvalue())


def quantise(graph: Any) -> dict[str, tuple[str, Any, list[Any]]]:
    """Let the encoder's products and the word embeddings take int8 weights; of each: form, float weight, new constants.

    Activations are quantised while it runs, each token by its own largest value: a scale for all of a batch, as
    onnxruntime's dynamic quantisation has it, was up to 0.4 off in probability and let one pair depend on the others.
    """
    from onnx import TensorProto, helper, numpy_helper

    constants = {t.name: t for t in graph.initializer}
    for name, value in (("largest", np.float32(127)), ("least", np.float32(1e-9)), ("middle", np.float32(128))):
        graph.initializer.append(numpy_helper.from_array(np.array(value), name))
    graph.initializer.append(numpy_helper.from_array(np.array(128, np.uint8), "zero"))
    replaced: dict[str, tuple[str, Any, list[Any]]] = {}
    scaled: set[str] = set()
    nodes = []

    def node(kind: str, inputs: list[str], output: str, **attributes: Any) -> None:
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))

    def stored(name: str, form: str) -> None:
        weight = numpy_helper.to_array(constants[name])
        made = zip(merge.formed(weight, form), (f"{name}_int8", f"{name}_scale"), strict=True)
        replaced[name] = form, weight, [numpy_helper.from_array(values, label) for values, label in made]

    for old in graph.node:
        table, weight = [*old.input, "", ""][:2]
        if old.op_type == "Gather" and table.endswith("word_embeddings.weight"):
            stored(table, "rows")
            node("Gather", [f"{table}_int8", weight], f"{table}_rows")
            node("Cast", [f"{table}_rows"], f"{table}_floats", to=TensorProto.FLOAT)
            node("Gather", [f"{table}_scale", weight], f"{table}_scales")
            node("Mul", [f"{table}_floats", f"{table}_scales"], old.output[0])
        elif old.op_type == "MatMul" and weight in constants:
            stored(weight, "columns")
            x, out = old.input[0], old.output[0]
            if x not in scaled:
                scaled.add(x)
                node("Abs", [x], f"{x}_sizes")
                node("ReduceMax", [f"{x}_sizes"], f"{x}_most", axes=[-1], keepdims=1)
                node("Max", [f"{x}_most", "least"], f"{x}_some")
                node("Div", [f"{x}_some", "largest"], f"{x}_scale")
                node("Div", [x, f"{x}_scale"], f"{x}_units")
                node("Add", [f"{x}_units", "middle"], f"{x}_shifted")
                node("Round", [f"{x}_shifted"], f"{x}_rounded")
                node("Cast", [f"{x}_rounded"], f"{x}_int8", to=TensorProto.UINT8)
            node("MatMulInteger", [f"{x}_int8", f"{weight}_int8", "zero"], f"{out}_int32")
            node("Cast", [f"{out}_int32"], f"{out}_float", to=TensorProto.FLOAT)
            node("Mul", [f"{out}_float", f"{weight}_scale"], f"{out}_scaled")
            node("Mul", [f"{out}_scaled", f"{x}_scale"], out)
        else:
            nodes.append(old)
    del graph.node[:]
    graph.node.extend(nodes)
    for name, (_, _, made) in replaced.items():
        graph.initializer.remove(constants[name])
        graph.initializer.extend(made)
    return replaced


def strip(model: Any, replaced: dict[str, tuple[str, Any, list[Any]]], weights: merge.Merged, out: Path) -> None:
    """Write the graph without its weights and the layout that says how to make them."""
    import onnx
    from onnx import numpy_helper

    tensors = {name: weights[name] for name in weights.names()}
    held = {t.name: t for t in model.graph.initializer}
    whole = {
        n: ("float", numpy_helper.to_array(t), [t]) for n, t in held.items() if t.data_type == onnx.TensorProto.FLOAT
    }
    made = {t.name for _, _, own in replaced.values() for t in own}
    parts = {n: part for n, part in whole.items() if n not in made and part[1].size > 1}
    parts |= {n: (form, array, [held[t.name] for t in own]) for n, (form, array, own) in replaced.items()}
    layout: list[dict[str, Any]] = []
    place = 0
    for name, (form, array, own) in parts.items():
        same = [k for k, t in tensors.items() if t.shape == array.shape and np.array_equal(t, array)]
        turned = [k for k, t in tensors.items() if t.T.shape == array.shape and np.array_equal(t.T, array)]
        if not same and not turned:
            raise ValueError(f"constant {name} of shape {array.shape} belongs to no tensor")
        offsets = []
        for tensor in own:
            size = len(numpy_helper.to_array(tensor).tobytes())
            for field in ("raw_data", "float_data", "int32_data"):
                tensor.ClearField(field)
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", merge.WEIGHTS), ("offset", place), ("length", size)):
                tensor.external_data.add(key=key, value=str(value))
            offsets.append(place)
            place += -(-size // _ALIGNED) * _ALIGNED
        layout.append({"tensor": (same or turned)[0], "transposed": not same, "form": form, "offsets": offsets})
    (out / merge.GRAPH).write_bytes(model.SerializeToString())
    lines = ",\n".join(json.dumps(entry) for entry in layout)
    (out / merge.LAYOUT).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adapter", type=Path, default=Path("attribution/verifiers/base"))
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        weights = merge.Merged(base_weights(folder, lambda share, what: None), args.adapter)
        for name in ("config.json", "tokenizer.json"):
            (folder / name).write_bytes(base_file(name))
        model = plain_graph(torch_model(weights, folder))
    strip(model, quantise(model.graph), weights, args.adapter)
    (args.adapter / "tokenizer.json").write_bytes(base_file("tokenizer.json"))
    print(f"{args.adapter / merge.GRAPH}: {(args.adapter / merge.GRAPH).stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
