"""The number type that this machine trains in."""

from __future__ import annotations

import time
from typing import Any


def fastest_type(device: str) -> Any:
    """bfloat16 or float32, whichever multiplies matrices faster here: some CPUs only emulate bfloat16."""
    import torch

    if device == "cuda":
        return torch.bfloat16

    def seconds(kind: torch.dtype) -> float:
        a, b = torch.ones(1024, 768, dtype=kind), torch.ones(768, 768, dtype=kind)
        taken = []
        for _ in range(5):
            started = time.perf_counter()
            a @ b
            taken.append(time.perf_counter() - started)
        return min(taken)

    return min((torch.bfloat16, torch.float32), key=seconds)


def autocast(device: str, kind: Any) -> Any:
    """Reduced precision where `kind` is one; float32 needs no casting."""
    import torch

    return torch.autocast(device, kind, enabled=kind != torch.float32)
