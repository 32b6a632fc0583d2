"""The rank of the article that a WiCE claim cites in a collection of all WiCE articles.

    python -m benchmarks.collections DATA [--out FILE.json]

Weight and constant of the rank fusion are chosen on the half of the claims whose hash is even, figures reported on the
other.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attribution.fetching.page import Extracted, make_page
from attribution.library import ingest
from attribution.library import search as hybrid
from attribution.library.search import (
    DEPTH,
    FUSION,
    MIN_SIMILARITY,
    PASSAGES,
    VECTOR_WEIGHT,
    CollectionSearcher,
    HybridSearcher,
    Vectors,
    fuse,
)
from attribution.library.store import DocumentStore, NewDocument
from attribution.retrieval.bm25 import Ranked
from attribution.settings import Settings
from attribution.store.store import Store
from benchmarks import arguments, publish
from benchmarks.evaluation_sets import rows

CONSTANTS, WEIGHTS = (1, 2, 5, 10, 20, 60), (0.25, 0.5, 0.75, 1.0)
CUTS = (1, 3, 5)


@dataclass(frozen=True)
class Query:
    """One claim: both rankings of the articles, and the article it cites."""

    own: int
    words: Ranked
    near: tuple[tuple[int, float], ...]
    fewer: dict[int, tuple[int, ...]]  # passages a document → `near` with only so many
    tuning: bool  # in the half on which the constants are chosen

    def joined(self, constant: float, weight: float) -> list[int]:
        return fuse(self.words.rows, [row for row, _ in self.near], constant, weight)


def search(data: Path) -> list[Query]:
    """WiCE's claims, each searched for among all articles."""
    claims = list(rows(data / "eval" / "wice_claim_dev.jsonl.gz"))
    settings, own = Settings(), {}
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/wice.sqlite3")
        documents = DocumentStore(store.database)
        for row in claims:
            title, text = _article(row["evidence"])
            page = make_page("wice", "document", Extracted(title, text))
            own[row["id"]] = page.sha256
            documents.put("wice", [NewDocument(page.sha256, page.sha256, page.sha256, page)])
        by, corpus = hybrid.local_embedder(settings), CollectionSearcher(documents, "wice")
        list(ingest.embed(store, "wice", by))
        vectors = Vectors.from_bytes(*documents.vectors("wice", by.version))
        searcher = HybridSearcher(corpus, by, lambda: vectors)
        ids = {page.sha256: key for key, page in documents.pages(list(range(1, len(claims) + 1))).items()}
        fewer = _fewer(vectors, by.embed([row["claim"] for row in claims]))
        queries = [
            Query(
                ids[own[row["id"]]],
                corpus.ranked(row["claim"], DEPTH),
                tuple(searcher.nearest(row["claim"], DEPTH)),
                {count: rankings[number] for count, rankings in fewer.items()},
                zlib.crc32(row["id"].encode()) % 2 == 0,
            )
            for number, row in enumerate(claims)
        ]
        store.close()
    return queries


def _fewer(vectors: Vectors, claims: Any) -> dict[int, list[tuple[int, ...]]]:
    """The rankings by meaning with one passage a document, two, and so on."""
    place = np.array([list(vectors.rows[:i]).count(row) for i, row in enumerate(vectors.rows)])
    documents, cosines = np.array(vectors.rows), claims @ vectors.matrix.T
    rankings: dict[int, list[tuple[int, ...]]] = {}
    for count in range(1, PASSAGES):
        first, rankings[count] = place < count, []
        for row in cosines[:, first]:
            order = dict.fromkeys(documents[first][np.argsort(-row, kind="stable")].tolist())
            rankings[count].append(tuple(order)[:DEPTH])
    return rankings


def _article(sentences: Sequence[str]) -> tuple[str, str]:
    """Title and text; the first sentence of an article with a title is `(meta data) TITLE: …`."""
    first, *rest = (" ".join(s.split()) for s in sentences)
    mark = "(meta data) TITLE: "
    return (
        (first.removeprefix(mark), "\n".join(rest) or first)
        if first.startswith(mark)
        else ("", "\n".join([first, *rest]))
    )


def score(queries: Sequence[Query], ranking: Callable[[Query], Sequence[int]]) -> dict[str, float]:
    """recall@k and mean reciprocal rank of the claim's own article."""
    places = [list(ranking(a)).index(a.own) + 1 if a.own in ranking(a) else 0 for a in queries]
    recalls = {f"recall@{k}": round(sum(0 < p <= k for p in places) / len(places), 4) for k in CUTS}
    return recalls | {"mrr": round(sum(1 / p for p in places if p) / len(places), 4)}


def quality(queries: Sequence[Query]) -> dict[str, Any]:
    """Hybrid search against its two parts on the reporting half, and what the similarity gate lets through."""
    tune, rest = [a for a in queries if a.tuning], [a for a in queries if not a.tuning]
    grid = {
        (c, w): score(tune, lambda a, c=c, w=w: a.joined(c, w))["mrr"]  # type: ignore[misc]
        for c in CONSTANTS
        for w in WEIGHTS
    }
    best = max(grid, key=lambda cw: (grid[cw], cw))
    alone = [max((cosine for row, cosine in a.near if row != a.own), default=0.0) for a in queries]
    return {
        "claims": {"chosen_on": len(tune), "reported_on": len(rest)},
        "articles": len({a.own for a in queries}),
        "grid": [{"constant": c, "weight": w, "mrr": mrr} for (c, w), mrr in grid.items()],
        "best_of_grid": {"constant": best[0], "weight": best[1]},
        "used": {"constant": FUSION, "weight": VECTOR_WEIGHT, "near": MIN_SIMILARITY},
        "words": score(rest, lambda a: a.words.rows),
        "meaning": score(rest, lambda a: [row for row, _ in a.near]),
        "meaning_by_passages_on_the_choosing_half": {
            count: score(tune, lambda a, c=count: a.fewer[c] if c in a.fewer else [r for r, _ in a.near])["mrr"]  # type: ignore[misc]
            for count in range(1, PASSAGES + 1)
        },
        "hybrid": score(rest, lambda a: a.joined(FUSION, VECTOR_WEIGHT)),
        "hybrid_on_the_choosing_half": score(tune, lambda a: a.joined(FUSION, VECTOR_WEIGHT)),
        # an article above MIN_SIMILARITY is returned even for a claim whose own article is missing
        "others_near": {f"{t:.2f}": round(sum(c >= t for c in alone) / len(alone), 4) for t in (0.4, 0.5, 0.6, 0.7)},
        "own_near": {
            f"{t:.2f}": round(sum(any(r == a.own and c >= t for r, c in a.near) for a in queries) / len(queries), 4)
            for t in (0.4, 0.5, 0.6, 0.7)
        },
    }


def main() -> None:
    args = arguments(__doc__, data="eval/wice_claim_dev.jsonl.gz").parse_args()
    publish(quality(search(args.data)), args.out)


if __name__ == "__main__":
    main()
