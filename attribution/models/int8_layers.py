"""Layers of torch with int8 weights, and how each is written to ONNX. Importing this imports torch."""

from __future__ import annotations

from typing import Any

import torch

from attribution.models.merge import LARGEST

UINT8, FLOAT = 2, 1  # onnx.TensorProto
FULL = 127  # the range of int8 where products are not added in 16 bits


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(_: Any, x: Any, weight: Any, scale: Any) -> Any:
        return x @ (weight.float() * scale)

    @staticmethod
    def symbolic(g: Any, x: Any, weight: Any, scale: Any) -> Any:
        def constant(value: float, kind: Any = torch.float32) -> Any:
            return g.op("Constant", value_t=torch.tensor(value, dtype=kind))

        most = g.op("ReduceMax", g.op("Abs", x), axes_i=[-1], keepdims_i=1)
        step = g.op("Div", g.op("Max", most, constant(1e-9)), constant(127.0))
        units = g.op("Round", g.op("Add", g.op("Div", x, step), constant(128.0)))
        whole = g.op("Cast", units, to_i=UINT8)
        product = g.op("Cast", g.op("MatMulInteger", whole, weight, constant(128, torch.uint8)), to_i=FLOAT)
        return g.op("Mul", g.op("Mul", product, scale), step)


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(_: Any, ids: Any, weight: Any, scale: Any) -> Any:
        return weight[ids].float() * scale[ids]

    @staticmethod
    def symbolic(g: Any, ids: Any, weight: Any, scale: Any) -> Any:
        rows = g.op("Cast", g.op("Gather", weight, ids, axis_i=0), to_i=FLOAT)
        return g.op("Mul", rows, g.op("Gather", scale, ids, axis_i=0))


class Linear(torch.nn.Module):
    """In place of torch.nn.Linear; a scale for each output."""

    def __init__(self, layer: torch.nn.Linear) -> None:
        super().__init__()
        values, scale = _quantised(layer.weight.t(), 0, LARGEST)
        self.register_buffer("weight", values)
        self.register_buffer("scale", scale.squeeze(0))
        self.bias = layer.bias

    def forward(self, x: Any) -> Any:
        product = _Product.apply(x, self.weight, self.scale)  # type: ignore[no-untyped-call]
        return product if self.bias is None else product + self.bias


class Embedding(torch.nn.Module):
    """In place of torch.nn.Embedding; a scale for each row."""

    def __init__(self, layer: torch.nn.Embedding) -> None:
        super().__init__()
        values, scale = _quantised(layer.weight, 1, FULL)
        self.register_buffer("weight", values)
        self.register_buffer("scale", scale)

    def forward(self, ids: Any) -> Any:
        return _Rows.apply(ids, self.weight, self.scale)  # type: ignore[no-untyped-call]


def _quantised(weight: Any, axis: int, largest: int) -> tuple[Any, Any]:
    """(int8 values, float32 scales), symmetric, with the largest value along the axis as the end of the range."""
    scale = (weight.abs().amax(axis, keepdim=True) / largest).clamp_min(torch.finfo(torch.float32).tiny)
    return (weight / scale).round().clamp(-largest, largest).to(torch.int8).contiguous(), scale
