"""Page → chunks."""

from __future__ import annotations

from typing import Protocol

from attribution.tables import Entry, Need, Table
from attribution.types import Chunk, Page


class Chunker(Protocol):
    def chunk(self, page: Page) -> list[Chunk]:
        """Chunks in the page's order, at most `chunk_size` characters each.

        Together they hold every word of the page, none is empty, and `page.text[start:end] == text`.
        """
        ...


CHUNKERS: Table[Chunker] = Table(
    "chunker",
    {
        "fixed": Entry("attribution.chunkers.fixed:Fixed", "Fixed length", "so many characters, cut between words"),
        "recursive": Entry(
            "attribution.chunkers.recursive:Recursive",
            "Recursive, overlapping",
            "paragraphs, then sentences, then words, as large as fits; neighbours share `chunk_overlap` characters",
            needs=(Need("pip install semantic-text-splitter", package="semantic_text_splitter"),),
        ),
        "sentence": Entry(
            "attribution.chunkers.sentence:SentenceWindows",
            "Sentence windows",
            "`window_sentences` sentences, a new window every `window_stride` of them",
        ),
    },
)
