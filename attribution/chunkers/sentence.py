"""Windows of sentences: any language, any length, no model."""

from __future__ import annotations

from attribution.settings import Settings
from attribution.text.sentences import sentences
from attribution.types import Chunk, Page


class SentenceWindows:
    """`window_sentences` sentences every `window_stride`; fewer where `chunk_size` characters hold no more."""

    def __init__(self, settings: Settings) -> None:
        self.size, self.window = settings.chunk_size, settings.window_sentences
        self.stride = min(settings.window_stride, self.window)

    def chunk(self, page: Page) -> list[Chunk]:
        spans = sentences(page.text, self.size)
        chunks, first, last = [], 0, 0
        while last < len(spans):
            start = spans[first][0]
            last = first + 1
            while last < min(first + self.window, len(spans)) and spans[last][1] - start <= self.size:
                last += 1
            end = spans[last - 1][1]
            chunks.append(Chunk(page.id, start, end, page.text[start:end]))
            first = min(first + self.stride, last)  # the next window leaves no sentence out
        return chunks
