"""Texts → vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from attribution.registry import Entry


class Embedder(Protocol):
    version: str  # model and revision: part of the cache key

    def embed(self, texts: Sequence[str]) -> Any:
        """float32 array of shape (len(texts), dimensions), rows of length 1."""
        ...


EMBEDDERS = {
    "minilm": Entry(
        "attribution.embedders.minilm:MiniLM", "all-MiniLM-L6-v2 (embedded)", "384 dimensions, at most 256 tokens"
    ),
}
