"""Page → chunks."""

from __future__ import annotations

from typing import Protocol

from attribution.registry import Entry
from attribution.types import Chunk, Page


class Chunker(Protocol):
    def chunk(self, page: Page) -> list[Chunk]:
        """Chunks in the page's order; together they hold every word of it, and each is a slice of its text."""
        ...


CHUNKERS = {
    "fixed": Entry("attribution.chunkers.fixed:Fixed", "Fixed length", "so many characters, cut between words"),
}
