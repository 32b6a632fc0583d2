"""Record what each thread of a run does, when, and on which core.

Functions are timed while a run goes on; the picture shows both.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from attribution.chunkers import Fixed
from attribution.embedders import minilm
from attribution.fetching.fetcher import Fetcher
from attribution.fetching.sandbox import Reading
from attribution.models import reranker
from attribution.verifiers import embedded_base

Span = tuple[str, str, int, float, float]  # stage, thread, core, start and end in seconds
STAGES: dict[str, tuple[Any, str]] = {
    "fetch": (Fetcher, "_follow"),
    "extract": (Reading, "read"),  # the thread waits for a process
    "chunk": (Fixed, "chunk"),
    "estimate": (minilm, "estimated"),
    "embed": (minilm._Encoder, "vector"),
    "rerank": (reranker._Model, "score"),
    "verify": (embedded_base.Reader, "read"),
}
_core = getattr(ctypes.CDLL(None), "sched_getcpu", lambda: -1)


@contextmanager
def recorded(wanted: bool) -> Iterator[list[Span]]:
    """Collect what is done while it is open, if that is wanted."""
    spans: list[Span] = []
    opened = time.perf_counter()

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            core, start = _core(), time.perf_counter() - opened
            try:
                return function(*given, **named)
            finally:
                thread = threading.current_thread().name
                row = "gather" if thread.startswith("gather") else thread  # of as many threads as pages
                spans.append((stage, row, core, start, time.perf_counter() - opened))

        return call

    plain = {stage: getattr(owner, name) for stage, (owner, name) in STAGES.items() if wanted}
    for stage, function in plain.items():
        setattr(*STAGES[stage], timed(stage, function))
    try:
        yield spans
    finally:
        for stage, function in plain.items():
            setattr(*STAGES[stage], function)


def draw(spans: Sequence[Span], first_verdict: float, path: Path) -> None:
    """Draw a row for each thread, and one for each core."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    threads = sorted({span[1] for span in spans})
    cores = sorted({span[2] for span in spans})
    rows = [*(f"core {core}" for core in reversed(cores)), *reversed(threads)]
    figure, axes = pyplot.subplots(figsize=(9, 0.6 + 0.28 * len(rows)))
    for number, stage in enumerate(STAGES):
        for place, row in enumerate(rows):
            # a core is busy with what computes; a thread that fetches or has a page extracted waits
            of_row = [s for s in spans if s[0] == stage and (s[1] == row or (f"core {s[2]}" == row and number > 1))]
            bars = [(start, end - start) for *_, start, end in of_row]
            axes.broken_barh(bars, (place - 0.4, 0.8), color=f"C{number}", label=stage if place == 0 else None)
    axes.axvline(first_verdict, color="black", linewidth=0.8, linestyle="--", label="first verdict")
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_xlabel("seconds")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(STAGES) + 1, fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
