"""Multiply with the frozen matrices of the base in int8: twice as fast on CPUs with VNNI.

The products of inputs and of gradients with a frozen matrix are both taken in int8: one scale for
each column of the weights and one for each token. The adapter stays in float32.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import torch

P = ParamSpec("P")
R = TypeVar("R")
SMALLEST = 1e-12  # a row of zeros still needs a scale


def is_fast() -> bool:
    """Return True if int8 products are quicker than float32 ones on this processor."""
    return bool(torch.backends.cpu.get_cpu_capability().startswith("AVX512"))


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile what is done around each product, where a C++ compiler is installed."""
    if shutil.which("g++") or shutil.which("clang++"):
        return torch.compile(function, dynamic=True)
    return function


@compiled
def quantised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return int8 values of shape (rows, columns) and float32 scales of shape (rows, 1)."""
    scale = x.abs().amax(1, keepdim=True).clamp(min=SMALLEST) / 127
    return torch.round(x / scale).to(torch.int8), scale


@compiled
def quantised_gradient(g: torch.Tensor, columns: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients, scaled as the columns are, as int8 and scales."""
    return quantised(g * columns)


@compiled
def scaled(
    sums: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    """Return the products of inputs and weights in float32, with the bias.

    Args:
        sums: The int32 products.
        rows: The scales of the inputs, (rows, 1).
        columns: The scales of the weights.
        bias: That of the layer.
    """
    return sums * rows * columns + bias


@compiled
def scaled_gradient(sums: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Return the products of gradients and weights in float32; the gradients hold `columns`."""
    return sums * rows


class FrozenLayer:
    """One frozen matrix of shape (outputs, inputs) in int8."""

    def __init__(self, linear: Any, alpha: float) -> None:
        weight = linear.weight.data
        self.columns = weight.abs().amax(1).clamp(min=SMALLEST) / 127
        self.weight = torch.round(weight / self.columns[:, None]).to(torch.int8)
        self.bias = linear.bias.data
        self.alpha = alpha


class LoraProduct(torch.autograd.Function):
    """x Wᵀ + b + α/r · x Aᵀ Bᵀ with W in int8 (LoRA: Hu et al. 2021, section 4.1)."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, layer: FrozenLayer
    ) -> Any:
        rows = x.reshape(-1, x.shape[-1])
        values, scale = quantised(rows)
        low = rows @ a.t()
        sums = torch._int_mm(values, layer.weight.t())
        out = scaled(sums, scale, layer.columns, layer.bias)
        out.addmm_(low, b.t(), alpha=layer.alpha)
        ctx.save_for_backward(rows, low, a, b)
        ctx.layer = layer
        ctx.shape = x.shape
        return out.view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        """Return the gradients of x, a and b; the layer has none."""
        rows, low, a, b = ctx.saved_tensors
        layer = ctx.layer
        g = gradients[0].reshape(-1, gradients[0].shape[-1])
        values, scale = quantised_gradient(g, layer.columns)
        of_low = (g @ b) * layer.alpha
        of_rows = scaled_gradient(torch._int_mm(values, layer.weight), scale)
        of_rows.addmm_(of_low, a)
        of_a = of_low.t() @ rows
        of_b = (g.t() @ low) * layer.alpha
        return of_rows.view(ctx.shape), of_a, of_b, None


def freeze_in_int8(model: Any) -> None:
    """From now on, take the frozen matrices under the adapters of `model` in int8."""
    from peft.tuners.lora import Linear

    adapted: list[Any] = [module for module in model.modules() if isinstance(module, Linear)]
    for module in adapted:
        module.forward = _forward(module)


def _forward(module: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    layer = FrozenLayer(module.base_layer, module.scaling["default"])
    a = module.lora_A["default"]
    b = module.lora_B["default"]
    product = cast(Any, LoraProduct.apply)

    def forward(x: torch.Tensor) -> torch.Tensor:
        return cast(torch.Tensor, product(x, a.weight, b.weight, layer))

    return forward
