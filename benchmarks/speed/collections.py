"""A collection of 10,000 documents: how fast documents are added and searched.

    python -m benchmarks.speed.collections [--documents 10000] [--vectors] [--out FILE.json]

The documents are generated from a fixed seed: 400 words each of a Zipfian vocabulary, written as text files and added
like a user's folder. Embedding them takes minutes; without --vectors, random vectors are used, which cost a search as
much.
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from attribution.library import ingest
from attribution.library import search as hybrid
from attribution.library.search import PASSAGES, over_collection
from attribution.library.store import DocumentStore
from attribution.settings import Settings
from attribution.store.store import Store
from benchmarks import arguments, publish

SEED, VOCABULARY, WORDS, QUERIES = 7, 20_000, 400, 200
SYLLABLES = [c + v + e for c in "bdfgklmnprst" for v in "aeiou" for e in ("", "n", "r")]


def vocabulary() -> tuple[list[str], list[float]]:
    """Words and how often each occurs (Zipf's law)."""
    rng = random.Random(SEED)
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(rng.choices(SYLLABLES, k=rng.randint(2, 4)))] = None
    return list(words), [1 / (rank + 2) for rank in range(VOCABULARY)]


def write(folder: Path, count: int) -> None:
    """The generated documents as text files."""
    rng, (words, weights) = random.Random(SEED + 1), vocabulary()
    for number in range(count):
        sample = rng.choices(words, weights, k=WORDS)
        sentences = (" ".join(sample[i : i + 16]).capitalize() + "." for i in range(0, WORDS, 16))
        (folder / f"{number:05d}.txt").write_text(f"Document {number}. " + " ".join(sentences), encoding="utf-8")


def seconds(of: Callable[[], Any]) -> tuple[float, float]:
    """Wall clock, and processor time of this process and those it has started."""
    wall, processor = time.perf_counter(), _processor()
    of()
    return time.perf_counter() - wall, _processor() - processor


def _processor() -> float:
    ended = os.times()
    return (
        time.process_time()
        + ended.children_user
        + ended.children_system
        + sum(
            sum(map(float, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
            / os.sysconf("SC_CLK_TCK")
            for pid in _children()
        )
    )


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split() + [
        pid
        for task in Path("/proc/self/task").iterdir()
        if task.name != str(os.getpid())
        for pid in (task / "children").read_text().split()
    ]


def speed(count: int, real: bool) -> dict[str, Any]:
    """Documents added a second, and milliseconds of a search."""
    with tempfile.TemporaryDirectory() as folder:
        files, settings = Path(folder) / "documents", Settings()
        files.mkdir()
        write(files, count)
        path = Path(folder) / "library.sqlite3"
        store = Store.open(f"sqlite:///{path}")
        documents = DocumentStore(store.database)
        items, _ = ingest.from_paths([files])
        list(ingest.add(store, "warm", items[:2], settings))  # starts the reading processes
        added = seconds(lambda: list(ingest.add(store, "made", items, settings)))
        again = seconds(lambda: list(ingest.add(store, "made", items, settings)))
        figures: dict[str, Any] = {
            "documents": count,
            "megabytes": round(path.stat().st_size / 1e6, 1),
            "added_per_second": round(count / added[0], 1),
            "added_per_processor_second": round(count / added[1], 1),
            "again_per_second": round(count / again[0], 1),
        }
        by = hybrid.local_embedder(settings)
        if real:
            figures["embedded_per_second"] = round(count / seconds(lambda: list(ingest.embed(store, "made", by)))[0], 1)
        else:
            generator = np.random.default_rng(SEED)
            while missing := documents.unembedded("made", by.version, 1, 200):
                vectors = generator.normal(size=(len(missing), PASSAGES, 384)).astype(np.float32)
                vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
                rows = {k: [row.tobytes() for row in of] for k, of in zip(missing, vectors, strict=True)}
                documents.put_vectors("made", by.version, rows)
        searcher = over_collection("made", settings, store)
        rng, (words, weights) = random.Random(SEED + 2), vocabulary()
        queries = [" ".join(rng.choices(words, weights, k=14)) for _ in range(QUERIES)]
        searcher.search(queries[0], 3)
        loaded = over_collection("made", settings, store)
        load = seconds(lambda: loaded.nearest("load", 1))
        figures["load_milliseconds"], figures["load_processor_milliseconds"] = (round(1000 * s) for s in load)
        times = [seconds(lambda q=query: searcher.search(q, 3)) for query in queries]  # type: ignore[misc]
        for name, values in (("", [t[0] for t in times]), ("processor_", [t[1] for t in times])):
            figures[f"search_{name}milliseconds_median"] = round(1000 * statistics.median(values), 1)
            figures[f"search_{name}milliseconds_p95"] = round(1000 * statistics.quantiles(values, n=20)[-1], 1)
        store.close()
    figures["peak_megabytes"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
    return figures


def main() -> None:
    p = arguments(__doc__)
    p.add_argument("--documents", type=int, default=10_000, metavar="N")
    p.add_argument("--vectors", action="store_true", help="embed the documents")
    args = p.parse_args()
    publish(speed(args.documents, args.vectors), args.out)


if __name__ == "__main__":
    main()
