"""Torch layers with int8 weights, exported to ONNX: any text classifier of the hub for CPUs, made once and kept."""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import torch

from attribution.models.files import digest
from attribution.models.merge import LARGEST
from attribution.settings import models_folder
from attribution.types import content_id

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

UINT8, FLOAT = 2, 1  # onnx.TensorProto
FULL = 127  # the range of int8 where products are not added in 16 bits


class _Graph(Protocol):
    """A graph that is being exported; `op` adds a node and returns its output."""

    def op(self, name: str, *inputs: object, **attributes: object) -> object: ...


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(_: object, x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return x @ (weight.float() * scale)

    @staticmethod
    def symbolic(g: _Graph, x: object, weight: object, scale: object) -> object:
        def constant(value: float, kind: torch.dtype = torch.float32) -> object:
            return g.op("Constant", value_t=torch.tensor(value, dtype=kind))

        most = g.op("ReduceMax", g.op("Abs", x), axes_i=[-1], keepdims_i=1)
        step = g.op("Div", g.op("Max", most, constant(1e-9)), constant(127.0))
        units = g.op("Round", g.op("Add", g.op("Div", x, step), constant(128.0)))
        whole = g.op("Cast", units, to_i=UINT8)
        product = g.op("Cast", g.op("MatMulInteger", whole, weight, constant(128, torch.uint8)), to_i=FLOAT)
        return g.op("Mul", g.op("Mul", product, scale), step)


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(_: object, ids: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return weight[ids].float() * scale[ids]

    @staticmethod
    def symbolic(g: _Graph, ids: object, weight: object, scale: object) -> object:
        rows = g.op("Cast", g.op("Gather", weight, ids, axis_i=0), to_i=FLOAT)
        return g.op("Mul", rows, g.op("Gather", scale, ids, axis_i=0))


class Linear(torch.nn.Module):
    """Replacement for torch.nn.Linear with one scale per output."""

    def __init__(self, layer: torch.nn.Linear) -> None:
        super().__init__()
        values, scale = _quantised(layer.weight.t(), 0, LARGEST)
        self.register_buffer("weight", values)
        self.register_buffer("scale", scale.squeeze(0))
        self.bias = layer.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = _Product.apply(x, self.weight, self.scale)  # type: ignore[no-untyped-call]
        return product if self.bias is None else product + self.bias


class Embedding(torch.nn.Module):
    """Replacement for torch.nn.Embedding with one scale per row."""

    def __init__(self, layer: torch.nn.Embedding) -> None:
        super().__init__()
        values, scale = _quantised(layer.weight, 1, FULL)
        self.register_buffer("weight", values)
        self.register_buffer("scale", scale)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = _Rows.apply(ids, self.weight, self.scale)  # type: ignore[no-untyped-call]
        return rows


def _quantised(weight: torch.Tensor, axis: int, largest: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (int8 values, float32 scales), symmetric; the largest value along the axis ends the range."""
    scale = (weight.abs().amax(axis, keepdim=True) / largest).clamp_min(torch.finfo(torch.float32).tiny)
    return (weight / scale).round().clamp(-largest, largest).to(torch.int8).contiguous(), scale


GRAPH, DONE = "model.onnx", "model.json"
LARGE = 5_000  # rows from which an embedding is worth quantising


def folder(model: str) -> Path:
    """Return the folder for the int8 form of a model, from the hub or a folder."""
    return models_folder() / "int8" / content_id(model)


def is_made(model: str, weights: Path) -> bool:
    """Return True if the int8 form was made from these weights and its file has the recorded size."""
    done = _done(folder(model))
    return done.get("weights") == _state(weights) and done.get("size") == _size(folder(model) / GRAPH)


def session(model: str) -> InferenceSession:
    """Return the model, ready to run. Raises ValueError if its file is damaged."""
    path = folder(model) / GRAPH
    if digest(path) != _done(path.parent).get("sha256"):
        raise ValueError(f"{path} is damaged")
    return open_session(path)


def open_session(path: Path) -> InferenceSession:
    """Open an exported file, to run on one thread at a time."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # a long passage would keep its memory
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def make(model: str, weights: Path, load: Callable[[], torch.nn.Module], inputs: Sequence[str]) -> None:
    """Export the torch model that `load` returns, with logits as its output, unless it was made from these weights.

    `inputs` are the names of its integer inputs, each of shape (pairs, tokens). After an interrupted export, `is_made`
    returns False.
    """
    target = folder(model)
    if is_made(model, weights):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        graph = made / GRAPH
        export(load(), inputs, graph)
        state = {"model": model, "weights": _state(weights), "size": _size(graph), "sha256": digest(graph)}
        (made / DONE).write_text(json.dumps(state) + "\n", encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        made.replace(target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def export(model: torch.nn.Module, inputs: Sequence[str], path: Path) -> None:
    """Write a torch model to a file in int8. The model itself is changed: its layers get int8 weights."""

    def shrink(part: torch.nn.Module) -> None:
        for name, child in list(part.named_children()):
            if isinstance(child, torch.nn.Linear):
                setattr(part, name, Linear(child))
            elif isinstance(child, torch.nn.Embedding) and child.num_embeddings >= LARGE:
                setattr(part, name, Embedding(child))
            else:
                shrink(child)

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *values: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.model(**dict(zip(inputs, values, strict=True))).logits
            return logits

    model = model.float().eval()
    with torch.inference_mode():
        shrink(model)
    axes: dict[str, dict[int, str]] = {name: {0: "pairs", 1: "tokens"} for name in inputs}
    sample = tuple(torch.ones((1, 40), dtype=torch.int64) for _ in inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tracing: that constants stay constant
        torch.onnx.export(
            Logits().eval(), sample, str(path), input_names=list(inputs), output_names=["logits"],
            dynamic_axes=axes | {"logits": {0: "pairs"}}, opset_version=17, dynamo=False,
        )  # fmt: skip


def _done(folder: Path) -> dict[str, object]:
    try:
        done = json.loads((folder / DONE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return done if isinstance(done, dict) else {}


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else -1


def _state(weights: Path) -> str:
    """Identify the weights, not only by name: in the hub's cache, the file is named by its hash."""
    return f"{weights.resolve()} {_size(weights)} {LARGEST}"
