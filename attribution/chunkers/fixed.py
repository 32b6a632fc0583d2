"""Chunks of a fixed length in characters (V24, section 4.4: 256 or 512)."""

from __future__ import annotations

from attribution.settings import Settings
from attribution.text.sentences import possible_ends
from attribution.types import Chunk, Page


class Fixed:
    """At most `chunk_size` characters, cut between words; after a sentence where one ends in the last third."""

    def __init__(self, settings: Settings) -> None:
        self.size = settings.chunk_size

    def chunk(self, page: Page) -> list[Chunk]:
        chunks, start, text = [], 0, page.text
        while start < len(text):
            if text[start].isspace():
                start += 1
                continue
            cut = self._cut(text, start)
            end = start + len(text[start:cut].rstrip())
            chunks.append(Chunk(page.id, start, end, text[start:end]))
            start = cut
        return chunks

    def _cut(self, text: str, start: int) -> int:
        limit = start + self.size
        if limit >= len(text):
            return len(text)
        ends = [*possible_ends(text, start + self.size * 2 // 3, limit)]
        if ends:
            return ends[-1]
        if text[limit].isspace():
            return limit
        space = max(text.rfind(c, start + 1, limit) for c in " \n\t")
        return space if space > start else limit  # one word longer than a chunk is cut
