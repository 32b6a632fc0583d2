"""Evaluation sets, read from a folder of the user's; the project ships none of them.

Each set is split in two halves by a hash: thresholds are chosen on one, figures reported on the
other.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from attribution.embedders import EMBEDDERS
from attribution.pipeline.judge import Passage
from attribution.retrieval.chunkers import CHUNKERS
from attribution.retrieval.index import Index
from attribution.settings import Settings
from attribution.types import Page, Relation

THREE: dict[str, Relation] = {
    "entailment": "entailed",
    "neutral": "no_relation",
    "contradiction": "contradicted",
}


@dataclass(frozen=True)
class Case:
    """A claim against one or more passages; `gold` is a relation (three classes) or whether it is
    supported (two).
    """

    claim: str
    passages: tuple[str, ...]
    gold: Relation | bool
    half: Literal["choose", "report"]
    held_out: bool = True  # nothing was trained on it


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a compressed JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def half_of(key: str) -> Literal["choose", "report"]:
    return "choose" if zlib.crc32(key.encode()) % 2 else "report"


def _nli(path: Path, split: str = "") -> list[Case]:
    return [
        Case(r["hypothesis"], (r["premise"],), THREE[r["label"]], half_of(r["premise"]))
        for r in rows(path)
        if not split or r["split"] == split
    ]


def _support(path: Path, positive: str) -> list[Case]:
    def passage(evidence: str | list[str]) -> str:
        return evidence if isinstance(evidence, str) else " ".join(evidence)

    return [
        Case(
            r["claim"],
            (passage(r["evidence"]),),
            r["label"] == positive,
            half_of(r["id"].split("-chunk")[0]),
            held_out(group(path.name.partition(".")[0], r["id"])),
        )
        for r in rows(path)
        if r["claim"].strip() and passage(r["evidence"]).strip()
    ]


def group(source: str, identifier: str) -> str:
    """The key that siblings share: WiCE's claim of several chunks, Q2's turn with both of its
    replies.
    """
    if source == "wice_oracle_chunks_dev":
        return identifier.rsplit("-", 1)[0]
    return identifier.rsplit("-", 1)[1] if source == "q2_wow" else identifier


def held_out(key: str) -> bool:
    """Return True if the answer or claim with this id is of the three in ten that nothing is
    trained or chosen on.
    """
    return zlib.crc32(key.encode()) % 10 >= 7


def expertqa_claims(path: Path) -> Iterator[tuple[str, str, tuple[Passage, ...], bool]]:
    """(id of the answer, claim, passages it cites, whether an expert found that they support it
    completely).
    """
    for row in rows(path):
        for claim in row["claims"]:
            parts = (
                e.partition("\n\n") for e in claim["evidence"]
            )  # "[1] https://…", and the passage
            passages = tuple(
                Passage(text.strip(), place.split()[-1]) for place, _, text in parts if text.strip()
            )
            if (
                passages
                and claim["label"] in ("Complete", "Incomplete", "Missing")
                and claim["claim"].strip()
            ):
                yield row["id"], claim["claim"], passages, claim["label"] == "Complete"


def _expertqa(path: Path) -> list[Case]:
    return [
        Case(claim, tuple(p.text for p in passages), gold, half_of(key), held_out(key))
        for key, claim, passages, gold in expertqa_claims(path)
    ]


def retrieved_passages(claim: str, text: str, k: int = 5) -> tuple[str, ...]:
    """The k chunks of a page nearest to the claim by their vectors, with the default chunker and
    embedder.
    """
    settings = Settings()
    page = Page(
        id="page",
        url="document:page",
        title="",
        site="",
        kind="document",
        fetched_at="",
        sha256="",
        text=text,
    )
    chunks = CHUNKERS.build(settings.chunker, settings).chunk(page)
    embedder = EMBEDDERS.build(settings.embedder, settings)
    index = Index()
    index.add(chunks, embedder.embed([c.text for c in chunks]))
    return tuple(c.chunk.text for c in index.search(embedder.embed([claim]), k, embedder.floor))


# name → (number of classes, reader)
SETS: dict[str, tuple[int, Callable[[Path], list[Case]]]] = {
    "xnli_en_dev": (3, lambda d: _nli(d / "eval" / "xnli_en_dev.jsonl.gz")),
    "fever_nli test": (3, lambda d: _nli(d / "nli" / "fever_nli.jsonl.gz", "test")),
    "wice_oracle_chunks_dev": (
        2,
        lambda d: _support(d / "eval" / "wice_oracle_chunks_dev.jsonl.gz", "supported"),
    ),
    "begin_dev": (2, lambda d: _support(d / "eval" / "begin_dev.jsonl.gz", "Fully attributable")),
    "q2_wow": (2, lambda d: _support(d / "eval" / "q2_wow.jsonl.gz", "consistent")),
    "expertqa_val": (2, lambda d: _expertqa(d / "eval" / "expertqa_val.jsonl.gz")),
}
