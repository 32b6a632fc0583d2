"""A collection of 10,000 documents: how fast it is added to and searched, and whether hybrid beats both its halves.

    python -m benchmarks.library [DATA] --out docs/figures/library.json [--documents 10000] [--vectors]

The documents are made from a fixed seed: words of a Zipfian vocabulary, 400 a document, written as text files and
added as a user's folder is. Embedding them all takes minutes; without --vectors their vectors are drawn at random,
which costs a search the same. With DATA, the claims of DATA/eval/wice_claim_dev.jsonl.gz are searched for in the
collection of all its articles: where does the claim's own article stand? Weight and constant of the fusion are chosen
on the half of the claims whose hash is even and reported on the other.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attribution import collections, hybrid
from attribution.document_store import DocumentStore, NewDocument
from attribution.extraction import Extracted, make_page
from attribution.hybrid import DEPTH, FUSION, MEANING, NEAR, PASSAGES, Hybrid, Vectors, fused, over_collection
from attribution.searchers.collection import Collection
from attribution.searchers.fulltext import Ranked
from attribution.settings import Settings
from attribution.store import Store

SEED, VOCABULARY, WORDS, QUERIES = 7, 20_000, 400, 200
SYLLABLES = [c + v + e for c in "bdfgklmnprst" for v in "aeiou" for e in ("", "n", "r")]
CONSTANTS, WEIGHTS = (1, 2, 5, 10, 20, 60), (0.25, 0.5, 0.75, 1.0)
CUTS = (1, 3, 5)


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
        drawn = rng.choices(words, weights, k=WORDS)
        sentences = (" ".join(drawn[i : i + 16]).capitalize() + "." for i in range(0, WORDS, 16))
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
        kept = DocumentStore(store)
        items, _ = collections.from_paths([files])
        list(collections.add(store, "warm", items[:2], settings))  # the reading processes start once
        added = seconds(lambda: list(collections.add(store, "made", items, settings)))
        again = seconds(lambda: list(collections.add(store, "made", items, settings)))
        figures: dict[str, Any] = {
            "documents": count,
            "megabytes": round(path.stat().st_size / 1e6, 1),
            "added_per_second": round(count / added[0], 1),
            "added_per_processor_second": round(count / added[1], 1),
            "again_per_second": round(count / again[0], 1),
        }
        by = hybrid.embedder(settings)
        if real:
            figures["embedded_per_second"] = round(
                count / seconds(lambda: list(collections.embed(store, "made", by)))[0], 1
            )
        else:
            rng = np.random.default_rng(SEED)
            while missing := kept.unembedded("made", by.version, 1, 200):
                drawn = rng.normal(size=(len(missing), PASSAGES, 384)).astype(np.float32)
                drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
                rows = {k: [row.tobytes() for row in of] for k, of in zip(missing, drawn, strict=True)}
                kept.put_vectors("made", by.version, rows)
        searcher = over_collection("made", settings, store)
        rng, (words, weights) = random.Random(SEED + 2), vocabulary()
        queries = [" ".join(rng.choices(words, weights, k=14)) for _ in range(QUERIES)]
        searcher.search(queries[0], 3)
        loaded = over_collection("made", settings, store)
        load = seconds(lambda: loaded.near("load", 1))
        figures["load_milliseconds"], figures["load_processor_milliseconds"] = (round(1000 * s) for s in load)
        taken = [seconds(lambda q=query: searcher.search(q, 3)) for query in queries]  # type: ignore[misc]
        for name, values in (("", [t[0] for t in taken]), ("processor_", [t[1] for t in taken])):
            figures[f"search_{name}milliseconds_median"] = round(1000 * statistics.median(values), 1)
            figures[f"search_{name}milliseconds_p95"] = round(1000 * statistics.quantiles(values, n=20)[-1], 1)
        store.close()
    figures["peak_megabytes"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
    return figures


@dataclass(frozen=True)
class Asked:
    """One claim: both rankings of the articles, and which one is its own."""

    own: int
    words: Ranked
    near: tuple[tuple[int, float], ...]
    fewer: dict[int, tuple[int, ...]]  # the second ranking with so many passages a document
    chosen: bool  # of the half that the constants are chosen on

    def joined(self, constant: float, weight: float) -> list[int]:
        return fused(self.words.rows, [row for row, _ in self.near], constant, weight)


def ask(data: Path) -> list[Asked]:
    """WiCE's claims, each searched for among all articles."""
    with gzip.open(data / "eval" / "wice_claim_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    settings, own = Settings(), {}
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/wice.sqlite3")
        kept = DocumentStore(store)
        for row in rows:
            title, text = _article(row["evidence"])
            page = make_page("wice", "document", Extracted(title, text))
            own[row["id"]] = page.sha256
            kept.put("wice", [NewDocument(page.sha256, page.sha256, page.sha256, page)])
        by, corpus = hybrid.embedder(settings), Collection(kept, "wice")
        list(collections.embed(store, "wice", by))
        vectors = Vectors.of(*kept.vectors("wice", by.version))
        searcher = Hybrid(corpus, by, lambda: vectors)
        ids = {page.sha256: key for key, page in kept.pages(list(range(1, len(rows) + 1))).items()}
        fewer = _fewer(vectors, by.embed([row["claim"] for row in rows]))
        asked = [
            Asked(
                ids[own[row["id"]]],
                corpus.ranked(row["claim"], DEPTH),
                tuple(searcher.near(row["claim"], DEPTH)),
                {count: rankings[number] for count, rankings in fewer.items()},
                zlib.crc32(row["id"].encode()) % 2 == 0,
            )
            for number, row in enumerate(rows)
        ]
        store.close()
    return asked


def _fewer(vectors: Vectors, claims: Any) -> dict[int, list[tuple[int, ...]]]:
    """The rankings by meaning with one passage a document, two, and so on."""
    place = np.array([list(vectors.rows[:i]).count(row) for i, row in enumerate(vectors.rows)])
    documents, cosines = np.array(vectors.rows), claims @ vectors.matrix.T
    made = {}
    for count in range(1, PASSAGES):
        kept, made[count] = place < count, []
        for row in cosines[:, kept]:
            order = dict.fromkeys(documents[kept][np.argsort(-row, kind="stable")].tolist())
            made[count].append(tuple(order)[:DEPTH])
    return made


def _article(sentences: Sequence[str]) -> tuple[str, str]:
    """Title and text; the first sentence of an article with a title is `(meta data) TITLE: …`."""
    first, *rest = (" ".join(s.split()) for s in sentences)
    mark = "(meta data) TITLE: "
    return (
        (first.removeprefix(mark), "\n".join(rest) or first)
        if first.startswith(mark)
        else ("", "\n".join([first, *rest]))
    )


def score(asked: Sequence[Asked], ranking: Callable[[Asked], Sequence[int]]) -> dict[str, float]:
    """recall@k and mean reciprocal rank of the claim's own article."""
    places = [list(ranking(a)).index(a.own) + 1 if a.own in ranking(a) else 0 for a in asked]
    found = {f"recall@{k}": round(sum(0 < p <= k for p in places) / len(places), 4) for k in CUTS}
    return found | {"mrr": round(sum(1 / p for p in places if p) / len(places), 4)}


def quality(asked: Sequence[Asked]) -> dict[str, Any]:
    """Hybrid against its halves on the half that nothing was chosen on, and what the gate lets through."""
    tune, rest = [a for a in asked if a.chosen], [a for a in asked if not a.chosen]
    grid = {
        (c, w): score(tune, lambda a, c=c, w=w: a.joined(c, w))["mrr"]  # type: ignore[misc]
        for c in CONSTANTS
        for w in WEIGHTS
    }
    best = max(grid, key=lambda cw: (grid[cw], cw))
    alone = [max((cosine for row, cosine in a.near if row != a.own), default=0.0) for a in asked]
    return {
        "claims": {"chosen_on": len(tune), "reported_on": len(rest)},
        "articles": len({a.own for a in asked}),
        "grid": [{"constant": c, "weight": w, "mrr": mrr} for (c, w), mrr in grid.items()],
        "best_of_grid": {"constant": best[0], "weight": best[1]},
        "used": {"constant": FUSION, "weight": MEANING, "near": NEAR},
        "words": score(rest, lambda a: a.words.rows),
        "meaning": score(rest, lambda a: [row for row, _ in a.near]),
        "meaning_by_passages_on_the_choosing_half": {
            count: score(tune, lambda a, c=count: a.fewer[c] if c in a.fewer else [r for r, _ in a.near])["mrr"]  # type: ignore[misc]
            for count in range(1, PASSAGES + 1)
        },
        "hybrid": score(rest, lambda a: a.joined(FUSION, MEANING)),
        "hybrid_on_the_choosing_half": score(tune, lambda a: a.joined(FUSION, MEANING)),
        # another article that is as near as NEAR would be returned for a claim whose own article is not there
        "others_near": {f"{t:.2f}": round(sum(c >= t for c in alone) / len(alone), 4) for t in (0.4, 0.5, 0.6, 0.7)},
        "own_near": {
            f"{t:.2f}": round(sum(any(r == a.own and c >= t for r, c in a.near) for a in asked) / len(asked), 4)
            for t in (0.4, 0.5, 0.6, 0.7)
        },
    }


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data", type=Path, nargs="?")
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--documents", type=int, default=10_000, help="0 leaves speed out")
    p.add_argument("--vectors", action="store_true", help="embed the generated documents too")
    args = p.parse_args()
    figures: dict[str, Any] = {}
    if args.data:
        figures["wice"] = quality(ask(args.data))
        print(json.dumps(figures, indent=1), flush=True)
    if args.documents:
        figures["speed"] = speed(args.documents, args.vectors)
        print(json.dumps(figures["speed"], indent=1), flush=True)
    args.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
