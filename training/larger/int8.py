"""The frozen matrices of the base in int8 while its adapter is trained: twice as fast on CPUs with VNNI.

Both products with a frozen matrix, of the inputs and of the gradients, are taken in int8: one scale for each column of
the weights, as in the model that runs (attribution/models/mpnet.py), and one for each token. The adapter stays in
float32.
"""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Callable
from typing import Any, cast

import torch

_SMALLEST = 1e-12  # a row of zeros still needs a scale


def keep_memory() -> None:
    """Keep freed blocks: with glibc's defaults every large tensor is mapped, cleared and unmapped again."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(-4, 0)  # M_MMAP_MAX
        mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD


def fast(device: str) -> bool:
    """Return True if int8 products are quicker than float32 ones here."""
    return device == "cpu" and bool(torch.backends.cpu.get_cpu_capability().startswith("AVX512"))


def _quantised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scale = x.abs().amax(1, keepdim=True).clamp(min=_SMALLEST) / 127
    return torch.round(x / scale).to(torch.int8), scale


def _quantised_gradient(g: torch.Tensor, columns: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return _quantised(g * columns)


def _scaled(sums: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return sums * rows * columns + bias


def _scaled_gradient(sums: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return sums * rows


class _Product(torch.autograd.Function):
    """x Wᵀ + b + α/r · x Aᵀ Bᵀ, with W in int8 (LoRA: Hu et al. 2021, section 4.1)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, a: torch.Tensor, b: torch.Tensor, layer: _Layer) -> Any:
        rows = x.reshape(-1, x.shape[-1])
        whole, scale = layer.quantised(rows)
        low = rows @ a.t()
        out = layer.scaled(torch._int_mm(whole, layer.weight.t()), scale, layer.columns, layer.bias)
        out.addmm_(low, b.t(), alpha=layer.alpha)
        ctx.save_for_backward(rows, low, a, b)
        ctx.layer, ctx.shape = layer, x.shape
        return out.view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        rows, low, a, b = ctx.saved_tensors
        layer, g = ctx.layer, gradients[0].reshape(-1, gradients[0].shape[-1])
        whole, scale = layer.quantised_gradient(g, layer.columns)
        of_low = (g @ b) * layer.alpha
        of_rows = layer.scaled_gradient(torch._int_mm(whole, layer.weight), scale).addmm_(of_low, a)
        return of_rows.view(ctx.shape), of_low.t() @ rows, (g.t() @ low) * layer.alpha, None


class _Layer:
    """One frozen matrix, (outputs, inputs), in int8, with the functions that PyTorch has compiled."""

    def __init__(self, linear: Any, alpha: float, compiled: dict[str, Any]) -> None:
        weight = linear.weight.data
        self.columns = weight.abs().amax(1).clamp(min=_SMALLEST) / 127
        self.weight = torch.round(weight / self.columns[:, None]).to(torch.int8)
        self.bias = linear.bias.data if linear.bias is not None else torch.zeros(len(weight))
        self.alpha = alpha
        self.quantised, self.scaled = compiled["quantised"], compiled["scaled"]
        self.quantised_gradient, self.scaled_gradient = compiled["quantised_gradient"], compiled["scaled_gradient"]


def quantise(model: Any) -> int:
    """Take the frozen matrices under the adapters of `model` in int8 from now on; how many there are.

    Where there is a C++ compiler, the steps around each product are compiled into one.
    """
    from peft.tuners.lora import Linear

    made: dict[str, Callable[..., Any]] = {"quantised": _quantised, "scaled": _scaled}
    made |= {"quantised_gradient": _quantised_gradient, "scaled_gradient": _scaled_gradient}
    compiler = shutil.which("g++") or shutil.which("clang++")
    functions: dict[str, Any] = {k: torch.compile(f, dynamic=True) if compiler else f for k, f in made.items()}
    found: list[Any] = [m for m in model.modules() if isinstance(m, Linear)]
    for module in found:
        module.forward = _forward(module, functions)
    return len(found)


def _forward(module: Any, functions: dict[str, Any]) -> Callable[[torch.Tensor], torch.Tensor]:
    layer = _Layer(module.base_layer, module.scaling["default"], functions)
    a, b, product = module.lora_A["default"], module.lora_B["default"], cast(Any, _Product.apply)
    return lambda x: cast(torch.Tensor, product(x, a.weight, b.weight, layer))
