"""The processes of a run: which they are, and what memory each holds."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def processes(pid: int) -> list[int]:
    """A process and those that it and its descendants have started, while they run."""
    found = [pid]
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # of a thread or process that has just ended
            for child in path.read_text(encoding="ascii").split():
                found += processes(int(child))
    return found


def megabytes(pid: int, field: str) -> float:
    """VmRSS, or VmHWM, its highest value so far."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024
