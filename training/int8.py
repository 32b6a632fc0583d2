"""Multiply with the frozen matrices of the base in int8: twice as fast on CPUs with VNNI.

The products of inputs and of gradients with a frozen matrix are both taken in int8: one scale for
each column of the weights and one for each token. The adapter stays in float32.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch

SMALLEST = 1e-12  # a row of zeros still needs a scale


def is_fast() -> bool:
    """Return True if int8 products are quicker than float32 ones on this processor."""
    return bool(torch.backends.cpu.get_cpu_capability().startswith("AVX512"))


def quantised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return int8 values of shape (rows, columns) and float32 scales of shape (rows, 1)."""
    scale = x.abs().amax(1, keepdim=True).clamp(min=SMALLEST) / 127
    return torch.round(x / scale).to(torch.int8), scale


def quantised_gradient(g: torch.Tensor, columns: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return quantised(g * columns)


def scaled(
    sums: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    return sums * rows * columns + bias


def scaled_gradient(sums: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return sums * rows


@dataclass(frozen=True)
class Steps:
    """What is done around each product, compiled where a C++ compiler is installed."""

    quantised: Callable[..., Any]
    quantised_gradient: Callable[..., Any]
    scaled: Callable[..., Any]
    scaled_gradient: Callable[..., Any]


def steps() -> Steps:
    functions = (quantised, quantised_gradient, scaled, scaled_gradient)
    if shutil.which("g++") or shutil.which("clang++"):
        return Steps(*(torch.compile(function, dynamic=True) for function in functions))
    return Steps(*functions)


class FrozenLayer:
    """One frozen matrix of shape (outputs, inputs) in int8."""

    def __init__(self, linear: Any, alpha: float, compiled: Steps) -> None:
        weight = linear.weight.data
        self.columns = weight.abs().amax(1).clamp(min=SMALLEST) / 127
        self.weight = torch.round(weight / self.columns[:, None]).to(torch.int8)
        self.bias = linear.bias.data
        self.alpha = alpha
        self.steps = compiled


class LoraProduct(torch.autograd.Function):
    """x Wᵀ + b + α/r · x Aᵀ Bᵀ with W in int8 (LoRA: Hu et al. 2021, section 4.1)."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, layer: FrozenLayer
    ) -> Any:
        rows = x.reshape(-1, x.shape[-1])
        values, scale = layer.steps.quantised(rows)
        low = rows @ a.t()
        sums = torch._int_mm(values, layer.weight.t())
        out = layer.steps.scaled(sums, scale, layer.columns, layer.bias)
        out.addmm_(low, b.t(), alpha=layer.alpha)
        ctx.save_for_backward(rows, low, a, b)
        ctx.layer, ctx.shape = layer, x.shape
        return out.view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        rows, low, a, b = ctx.saved_tensors
        layer = ctx.layer
        g = gradients[0].reshape(-1, gradients[0].shape[-1])
        values, scale = layer.steps.quantised_gradient(g, layer.columns)
        of_low = (g @ b) * layer.alpha
        of_rows = layer.steps.scaled_gradient(torch._int_mm(values, layer.weight), scale)
        of_rows.addmm_(of_low, a)
        return of_rows.view(ctx.shape), of_low.t() @ rows, (g.t() @ low) * layer.alpha, None


def freeze_in_int8(model: Any) -> None:
    """From now on, take the frozen matrices under the adapters of `model` in int8."""
    from peft.tuners.lora import Linear

    compiled = steps()
    adapted: list[Any] = [module for module in model.modules() if isinstance(module, Linear)]
    for module in adapted:
        module.forward = _forward(module, compiled)


def _forward(module: Any, compiled: Steps) -> Callable[[torch.Tensor], torch.Tensor]:
    layer = FrozenLayer(module.base_layer, module.scaling["default"], compiled)
    a, b = module.lora_A["default"], module.lora_B["default"]
    product = cast(Any, LoraProduct.apply)
    return lambda x: cast(torch.Tensor, product(x, a.weight, b.weight, layer))
