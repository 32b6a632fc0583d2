"""Evaluation sets, read from a folder of the user's; the project ships none of them."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attribution.embedders import EMBEDDERS
from attribution.pipeline.judge import Passage
from attribution.retrieval.chunkers import CHUNKERS
from attribution.retrieval.index import Index
from attribution.settings import Settings
from attribution.types import Page

FLOOR = 0.25  # cosine below which MiniLM's neighbours share no more than their language


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a compressed JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


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


def retrieved_passages(claim: str, text: str) -> tuple[str, ...]:
    """Return the five chunks of a page nearest to the claim by their vectors.

    Chunker and embedder are the defaults.
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
    chunks = CHUNKERS.chosen(settings).chunk(page)
    embedder = EMBEDDERS.chosen(settings)
    index = Index()
    index.add(chunks, embedder.embed([c.text for c in chunks]))
    found = index.search(embedder.embed([claim]), 5)
    return tuple(c.chunk.text for c in found if c.similarity >= FLOOR)
