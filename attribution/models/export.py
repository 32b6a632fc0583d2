"""Torch layers with int8 weights, exported to ONNX: any text classifier of the hub for CPUs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from attribution.models.merge import formed

UINT8, FLOAT = 2, 1  # onnx.TensorProto
LARGE = 5_000  # rows from which an embedding is worth quantising


class _Graph(Protocol):
    """A graph that is being exported; `op` adds a node and returns its output."""

    def op(self, name: str, *inputs: object, **attributes: object) -> object: ...


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(
        _: object, x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor
    ) -> torch.Tensor:
        return x @ (weight.float() * scale)

    @staticmethod
    def symbolic(g: _Graph, x: object, weight: object, scale: object) -> object:
        def constant(value: float, kind: torch.dtype = torch.float32) -> object:
            return g.op("Constant", value_t=torch.tensor(value, dtype=kind))

        most = g.op("ReduceMax", g.op("Abs", x), axes_i=[-1], keepdims_i=1)
        step = g.op("Div", g.op("Max", most, constant(1e-9)), constant(127.0))
        units = g.op("Round", g.op("Add", g.op("Div", x, step), constant(128.0)))
        whole = g.op("Cast", units, to_i=UINT8)
        product = g.op(
            "Cast", g.op("MatMulInteger", whole, weight, constant(128, torch.uint8)), to_i=FLOAT
        )
        return g.op("Mul", g.op("Mul", product, scale), step)


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(
        _: object, ids: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor
    ) -> torch.Tensor:
        return weight[ids].float() * scale[ids]

    @staticmethod
    def symbolic(g: _Graph, ids: object, weight: object, scale: object) -> object:
        rows = g.op("Cast", g.op("Gather", weight, ids, axis_i=0), to_i=FLOAT)
        return g.op("Mul", rows, g.op("Gather", scale, ids, axis_i=0))


class Linear(torch.nn.Module):
    """Replacement for torch.nn.Linear with one scale per output."""

    def __init__(self, layer: torch.nn.Linear) -> None:
        super().__init__()
        values, scale = _formed(layer.weight.t(), "columns")
        self.register_buffer("weight", values)
        self.register_buffer("scale", scale)
        self.bias = layer.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = _Product.apply(x, self.weight, self.scale)  # type: ignore[no-untyped-call]
        return product if self.bias is None else product + self.bias


class ScaledEmbedding(torch.nn.Module):
    """Replacement for torch.nn.Embedding with one scale per row."""

    def __init__(self, layer: torch.nn.Embedding) -> None:
        super().__init__()
        values, scale = _formed(layer.weight, "rows")
        self.register_buffer("weight", values)
        self.register_buffer("scale", scale)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = _Rows.apply(ids, self.weight, self.scale)  # type: ignore[no-untyped-call]
        return rows


def _formed(weight: torch.Tensor, form: str) -> list[torch.Tensor]:
    """Return (int8 values, float32 scales) of the columns or rows of a matrix."""
    return [
        torch.from_numpy(np.ascontiguousarray(part))
        for part in formed(weight.detach().numpy(), form)
    ]


def export(model: torch.nn.Module, inputs: Sequence[str], path: Path) -> None:
    """Write a torch model to a file in int8. The model itself is changed: its layers get int8
    weights.
    """

    def shrink(part: torch.nn.Module) -> None:
        for name, child in list(part.named_children()):
            if isinstance(child, torch.nn.Linear):
                setattr(part, name, Linear(child))
            elif isinstance(child, torch.nn.Embedding) and child.num_embeddings >= LARGE:
                setattr(part, name, ScaledEmbedding(child))
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
            Logits().eval(),
            sample,
            str(path),
            input_names=list(inputs),
            output_names=["logits"],
            dynamic_axes=axes | {"logits": {0: "pairs"}},
            opset_version=17,
            dynamo=False,
        )
