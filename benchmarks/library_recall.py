"""The second half of benchmarks/library.py: where does a claim's own article stand among all of WiCE's articles?"""

from __future__ import annotations

import gzip
import json
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attribution.collections import ingest
from attribution.collections import search as hybrid
from attribution.collections.collection import Collection
from attribution.collections.search import DEPTH, FUSION, MEANING, NEAR, PASSAGES, Hybrid, Vectors, fused
from attribution.collections.store import DocumentStore, NewDocument
from attribution.extraction.page import Extracted, make_page
from attribution.retrieval.bm25 import Ranked
from attribution.settings import Settings
from attribution.storage.store import Store

CONSTANTS, WEIGHTS = (1, 2, 5, 10, 20, 60), (0.25, 0.5, 0.75, 1.0)
CUTS = (1, 3, 5)


@dataclass(frozen=True)
class LlmAnnotator:
    """One claim: both rankings of the articles, and which one is its own."""

    own: int
    words: Ranked
    near: tuple[tuple[int, float], ...]
    fewer: dict[int, tuple[int, ...]]  # the second ranking with so many passages a document
    chosen: bool  # of the half that the constants are chosen on

    def joined(self, constant: float, weight: float) -> list[int]:
        return fused(self.words.rows, [row for row, _ in self.near], constant, weight)


def ask(data: Path) -> list[LlmAnnotator]:
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
        list(ingest.embed(store, "wice", by))
        vectors = Vectors.of(*kept.vectors("wice", by.version))
        searcher = Hybrid(corpus, by, lambda: vectors)
        ids = {page.sha256: key for key, page in kept.pages(list(range(1, len(rows) + 1))).items()}
        fewer = _fewer(vectors, by.embed([row["claim"] for row in rows]))
        asked = [
            LlmAnnotator(
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


def score(asked: Sequence[LlmAnnotator], ranking: Callable[[LlmAnnotator], Sequence[int]]) -> dict[str, float]:
    """recall@k and mean reciprocal rank of the claim's own article."""
    places = [list(ranking(a)).index(a.own) + 1 if a.own in ranking(a) else 0 for a in asked]
    found = {f"recall@{k}": round(sum(0 < p <= k for p in places) / len(places), 4) for k in CUTS}
    return found | {"mrr": round(sum(1 / p for p in places if p) / len(places), 4)}


def quality(asked: Sequence[LlmAnnotator]) -> dict[str, Any]:
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
