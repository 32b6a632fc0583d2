"""HNSW against exact search: recall of the ten nearest, and milliseconds of processor time for each query.

    python -m benchmarks.speed.index [--chunks 60000] [--out FILE.json]

The vectors are drawn around centres, as passages lie around topics, so that neighbourhoods are crowded. Uniformly
random vectors would be harder than text, distant clusters easier.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from attribution.retrieval.index import Index
from attribution.types import Chunk
from benchmarks import arguments, publish

DIMENSIONS, TOPICS, SPREAD, QUERIES, NEAREST = 384, 2000, 0.9, 200, 10


def rows(count: int, seed: int) -> Any:
    """float32 (count, 384), rows of length 1; the cosine of two rows of a topic is about 0.55."""
    rng, topics = np.random.default_rng(seed), np.random.default_rng(0).normal(size=(TOPICS, DIMENSIONS))
    vectors = topics[rng.integers(0, TOPICS, count)] + SPREAD * rng.normal(size=(count, DIMENSIONS))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def measure(count: int) -> dict[str, Any]:
    vectors, queries = rows(count, 1), rows(QUERIES, 2)
    chunks = [Chunk("p", i, i + 1, "x") for i in range(count)]
    figures: dict[str, Any] = {"chunks": count, "queries": QUERIES}
    answers: list[list[set[int]]] = []
    for name, index in (("exact", Index(large=count)), ("hnsw", Index(large=0))):
        started = time.process_time()
        index.add(chunks, vectors)
        figures[f"{name}_build_seconds"] = round(time.process_time() - started, 2)
        started = time.process_time()
        answers.append([{c.chunk.start for c in index.search(q[None], NEAREST, floor=-1)} for q in queries])
        figures[f"{name}_milliseconds"] = round((time.process_time() - started) / QUERIES * 1000, 2)
    hits = sum(len(a & b) for a, b in zip(*answers, strict=True))
    figures["recall"] = round(hits / sum(len(a) for a in answers[0]), 4)
    return figures


def main() -> None:
    p = arguments(__doc__)
    p.add_argument("--chunks", type=int, default=60_000)
    args = p.parse_args()
    publish(measure(args.chunks), args.out)


if __name__ == "__main__":
    main()
