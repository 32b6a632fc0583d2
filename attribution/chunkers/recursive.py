"""Recursive splitting with overlap: the largest units that fit (paragraphs, sentences, words), by text-splitter."""

from __future__ import annotations

from attribution.settings import Settings
from attribution.types import Chunk, Page


class Recursive:
    """At most `chunk_size` characters; a chunk starts up to `chunk_overlap` characters before the last one's end."""

    def __init__(self, settings: Settings) -> None:
        from semantic_text_splitter import TextSplitter

        overlap = min(settings.chunk_overlap, settings.chunk_size // 2)
        # untrimmed, so that what counts as white space is decided by Python alone
        self._splitter = TextSplitter(settings.chunk_size, overlap=overlap, trim=False)

    def chunk(self, page: Page) -> list[Chunk]:
        chunks = []
        for start, text in self._splitter.chunk_indices(page.text):
            if stripped := text.strip():
                first = start + len(text) - len(text.lstrip())
                chunks.append(Chunk(page.id, first, first + len(stripped), stripped))
        return chunks
