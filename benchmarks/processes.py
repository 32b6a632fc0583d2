"""The machine of a run, its processes, and what memory each holds."""

from __future__ import annotations

import importlib.metadata
import platform
from contextlib import suppress
from pathlib import Path
from typing import Any

from attribution.models.engine import cores

BF16 = {"avx512_bf16", "amx_bf16"}
FEATURES = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8", "amx_bf16")


def machine() -> dict[str, Any]:
    """Return the processor, those of its features that decide how fast networks are, and the engine
    that runs them.
    """
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    facts = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    numbers = ", ".join(
        f"{name} {facts[name]}" for name in ("cpu family", "model") if name in facts
    )
    return {
        "processor": f"{facts.get('model name', platform.machine())} ({numbers}), {cores()} cores",
        "features": [feature for feature in FEATURES if feature in facts.get("flags", "").split()],
        "engine": f"onnxruntime {importlib.metadata.version('onnxruntime')}, int8",
    }


def processes(pid: int) -> list[int]:
    """A process and those that it and its descendants have started, while they run."""
    found = [pid]
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(
            FileNotFoundError, ProcessLookupError
        ):  # of a thread or process that has just ended
            for child in path.read_text(encoding="ascii").split():
                found += processes(int(child))
    return found


def megabytes(pid: int, field: str) -> float:
    """VmRSS, or VmHWM, its highest value so far."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024
