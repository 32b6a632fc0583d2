"""Compare how well chunkers and embedders find the sentences that decide, for WiCE's claims in their articles.

    python -m benchmarks.retrieval DATA --out docs/figures/retrieval.json [--claims 349] [--embedders minilm …]

DATA/eval/wice_claim_dev.jsonl.gz holds claims, the cited article split into sentences, and the sets of sentences that
annotators found sufficient. A gold sentence counts as found where nine tenths of its characters lie in the first k
chunks; a claim's recall is that of its best covered set. `lexical` is BM25 over the chunks of the article, `hybrid`
joins it with the embedder by reciprocal rank.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attribution.chunkers import CHUNKERS
from attribution.embedders import EMBEDDERS
from attribution.fetching.page import Extracted, make_page
from attribution.retrieval.bm25 import Chunks
from attribution.retrieval.index import Index, reciprocal_ranks
from attribution.settings import Settings
from attribution.types import Chunk, Page, Span
from benchmarks import arguments, publish
from benchmarks.evaluation_sets import rows

CUTS: dict[str, dict[str, Any]] = {
    "fixed 256": {"chunker": "fixed", "chunk_size": 256},
    "fixed 512": {"chunker": "fixed", "chunk_size": 512},
    "recursive 512": {"chunker": "recursive", "chunk_size": 512},
    "sentence 3/2": {"chunker": "sentence", "chunk_size": 512},
}
DEPTHS = (5, 10)
LEAST = 0.9  # of a sentence's characters


@dataclass(frozen=True)
class Case:
    claim: str
    title: str
    page: Page
    gold: tuple[tuple[Span, ...], ...]  # the sufficient sets, as spans of the page


def cases(data: Path, count: int) -> list[Case]:
    """The claims with gold sentences, ordered by a hash of their ids."""
    claims = [r for r in rows(data / "eval" / "wice_claim_dev.jsonl.gz") if any(r["supporting_sentences"])]
    claims.sort(key=lambda r: (zlib.crc32(r["id"].encode()), r["id"]))
    sample = []
    for row in claims[:count]:
        spans: list[Span] = []
        text = ""
        for sentence in row["evidence"]:  # one space between: no chunker is told where the sentences end
            flat = " ".join(sentence.split())
            spans.append((len(text), len(text) + len(flat)))
            text += flat + " "
        page = make_page(
            f"https://wice.invalid/{zlib.crc32(text.encode())}", "web", Extracted(row["claim_title"], text)
        )
        sets = tuple(tuple(spans[i] for i in indices) for indices in row["supporting_sentences"] if indices)
        sample.append(Case(row["claim"], row["claim_title"], page, sets))
    return sample


def covered(chunks: Sequence[Chunk], span: Span) -> bool:
    """Return True if nine tenths of the span lie in the chunks together."""
    inside = {i for c in chunks for i in range(max(c.start, span[0]), min(c.end, span[1]))}
    return len(inside) >= LEAST * (span[1] - span[0])


def recall(chunks: Sequence[Chunk], case: Case) -> float:
    return max(sum(covered(chunks, span) for span in gold) / len(gold) for gold in case.gold)


def lexical(chunks: Sequence[Chunk], query: str) -> list[Chunk]:
    """The chunks by BM25; those without any of the words are left out."""
    words = Chunks()
    words.add(chunks)
    return words.ranked(query)


def fused(*rankings: Sequence[Chunk]) -> list[Chunk]:
    score = reciprocal_ranks([(1.0, ranking) for ranking in rankings])
    return sorted(score, key=lambda c: (-score[c], c.start))


def measure(sample: Sequence[Case], embedders: Sequence[str]) -> list[dict[str, Any]]:
    """One row a chunker and ranking."""
    table = []
    for cut, choice in CUTS.items():
        settings = Settings(**choice)
        chunker = CHUNKERS.build(settings.chunker, settings)
        started = time.perf_counter()
        pages = {c.page.id: c.page for c in sample}
        chunks = {page_id: chunker.chunk(page) for page_id, page in pages.items()}
        cutting = time.perf_counter() - started
        rankings: dict[str, list[list[Chunk]]] = {}
        seconds: dict[str, float] = {}
        started = time.perf_counter()
        rankings["lexical"] = [lexical(chunks[c.page.id], c.claim) for c in sample]
        seconds["lexical"] = time.perf_counter() - started
        for name in embedders:
            embedder = EMBEDDERS.build(name, Settings(embedder=name))
            started = time.perf_counter()
            ranked = rank(sample, chunks, embedder)
            seconds[name] = seconds[f"hybrid {name}"] = time.perf_counter() - started
            rankings |= {name: ranked}
            rankings[f"hybrid {name}"] = [fused(a, b) for a, b in zip(rankings["lexical"], ranked, strict=True)]
        for name, ranked in rankings.items():
            row: dict[str, Any] = {"chunker": cut, "ranking": name}
            for k in DEPTHS:
                row[f"recall@{k}"] = round(
                    float(np.mean([recall(r[:k], c) for r, c in zip(ranked, sample, strict=True)])), 4
                )
                row[f"characters@{k}"] = round(float(np.mean([sum(len(c.text) for c in r[:k]) for r in ranked])))
            row["chunks_per_page"] = round(float(np.mean([len(c) for c in chunks.values()])), 1)
            row["seconds_per_page"] = round((seconds[name] + cutting) / len(pages), 3)
            table.append(row)
            print(json.dumps(row), flush=True)
    return table


def rank(sample: Sequence[Case], chunks: dict[str, list[Chunk]], embedder: Any) -> list[list[Chunk]]:
    """All chunks of a claim's article by cosine."""
    indexes: dict[str, Index] = {}
    for page_id, of_page in chunks.items():
        indexes[page_id] = Index()
        indexes[page_id].add(of_page, embedder.embed([c.text for c in of_page]))
    queries = embedder.embed([c.claim for c in sample])
    return [
        [c.chunk for c in indexes[case.page.id].search(query[None], 100, floor=-1)]
        for case, query in zip(sample, queries, strict=True)
    ]


def main() -> None:
    p = arguments(__doc__, data="eval/wice_claim_dev.jsonl.gz")
    p.add_argument("--claims", type=int, default=349, metavar="N", help="a sample of N (default: all)")
    p.add_argument("--embedders", nargs="+", default=["minilm"], choices=list(EMBEDDERS))
    args = p.parse_args()
    sample = cases(args.data, args.claims)
    table = measure(sample, args.embedders)
    publish({"claims": len(sample), "articles": len({c.page.id for c in sample}), "rows": table}, args.out)


if __name__ == "__main__":
    main()
