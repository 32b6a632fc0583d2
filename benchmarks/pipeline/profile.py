"""What the networks cost in a run of the pipeline: passes, tokens and processor seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from attribution.models.engine import OnnxModel

NETWORKS = {"Network": "the reader's network", "_Encoder": "the embedder's network"}
REST = "the rest"
Rows = dict[str, dict[str, float]]


@contextmanager
def profiled() -> Iterator[Rows]:
    """Fill in a row for each network, and one for the rest, while the pipeline runs."""
    rows: Rows = {}
    for name in (*NETWORKS.values(), REST):
        rows[name] = {"passes": 0, "tokens": 0, "processor seconds": 0.0}
    original = OnnxModel.run
    adding = threading.Lock()

    def timed(model: OnnxModel, feed: Mapping[str, Any]) -> list[Any]:
        started = time.thread_time()
        outputs = original(model, feed)
        seconds = time.thread_time() - started
        row = rows[NETWORKS[type(model).__name__]]
        with adding:
            row["passes"] += 1
            row["tokens"] += next(iter(feed.values())).size
            row["processor seconds"] += seconds
        return outputs

    started = time.process_time()
    with patch.object(OnnxModel, "run", timed):
        yield rows
    networks = sum(row["processor seconds"] for row in rows.values())
    rows[REST]["processor seconds"] = time.process_time() - started - networks
