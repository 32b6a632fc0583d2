"""Where a run of the pipeline spends its processor time: by stage, with passes and tokens.

Each stage's seconds are those of its own code on all threads, without the stages that it calls.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any
from unittest.mock import patch

from attribution.evidence import judging, matching
from attribution.models.engine import OnnxModel
from attribution.pipeline import run
from attribution.store.cache import Cache
from attribution.store.runs import Runs

NETWORKS = {"Network": "the reader's network", "_Encoder": "the embedder's network"}
STAGES: tuple[tuple[object, str, str], ...] = (
    (run, "segment", "segmentation"),
    (run, "annotate", "worthiness and context"),
    (run, "check_coherence", "coherence"),
    (matching.Matcher, "chunk", "chunking"),
    (matching.Matcher, "find", "finding passages"),
    (matching.Matcher, "judge", "judging"),
    (matching, "with_origins", "origins"),
    (matching, "embed_statically", "static vectors"),
    (judging, "_after_steps", "named steps"),
    (OnnxModel, "encode", "tokenisation"),
    (Cache, "values", "database"),
    (Cache, "put", "database"),
    (Cache, "judgements", "database"),
    (Cache, "put_judgements", "database"),
    (Runs, "save_unfinished", "database"),
    (Runs, "finish", "database"),
)


@dataclass
class Stage:
    """What was measured of one stage."""

    passes: int = 0
    tokens: int = 0
    seconds: float = 0.0


class Profile:
    """The stages of what runs while `measuring`."""

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = defaultdict(Stage)
        self._inner = threading.local()
        self._adding = threading.Lock()

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Measure the stages, and what is left as `other`."""
        started = time.process_time()
        with ExitStack() as patched:
            for owner, name, stage in STAGES:
                timed = self._timed(getattr(owner, name), stage)
                patched.enter_context(patch.object(owner, name, timed))
            network = self._timed(OnnxModel.run)
            patched.enter_context(patch.object(OnnxModel, "run", network))
            yield
        seconds = time.process_time() - started
        measured = sum(stage.seconds for stage in self.stages.values())
        self.stages["other"].seconds = seconds - measured

    def _timed(self, function: Callable[..., Any], stage: str = "") -> Callable[..., Any]:
        """Return the function with a clock; without a stage it is one of the `NETWORKS`."""

        @wraps(function)
        def timed(*args: Any, **named: Any) -> Any:
            outer = getattr(self._inner, "seconds", 0.0)
            self._inner.seconds = 0.0
            started = time.thread_time()
            try:
                return function(*args, **named)
            finally:
                total = time.thread_time() - started
                with self._adding:
                    measured = self.stages[stage or NETWORKS[type(args[0]).__name__]]
                    measured.passes += 1
                    measured.seconds += total - self._inner.seconds
                    if not stage:
                        measured.tokens += next(iter(args[1].values())).size
                self._inner.seconds = outer + total

        return timed

    def rows(self) -> dict[str, dict[str, float]]:
        """Return the stages, the most expensive first."""
        by_seconds = sorted(self.stages.items(), key=lambda item: -item[1].seconds)
        rows = {}
        for name, stage in by_seconds:
            rows[name] = {
                "passes": stage.passes,
                "tokens": stage.tokens,
                "processor seconds": round(stage.seconds, 3),
            }
        return rows
