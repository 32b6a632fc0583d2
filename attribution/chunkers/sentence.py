"""Windows of sentences. Boundaries come from punctuation alone: any language, any length, no model."""

from __future__ import annotations

import re

from attribution.settings import Settings
from attribution.types import Chunk, Page, Span

# A full stop ends a sentence before white space, unless it follows an initial ("J. Smith"); a line always ends one.
_END = re.compile(r"(?<![\s(][A-Z])[.!?…؟۔।॥]+[\"'”’»)\]]*\s+|[。！？｡]+[」』”’）]*\s*|\s*\n\s*")


def sentences(text: str, limit: int) -> list[Span]:
    """Spans of the sentences without the white space around them; one longer than `limit` is cut between words."""
    spans: list[Span] = []
    start = 0
    for end in [*(m.end() for m in _END.finditer(text)), len(text)]:
        while start < end:
            if text[start].isspace():
                start += 1
                continue
            stop = start + len(text[start:end].rstrip())
            if stop - start > limit:
                space = max(text.rfind(c, start + 1, start + limit + 1) for c in " \t\u00a0\u3000")
                stop = space if space > start else start + limit
                stop = start + len(text[start:stop].rstrip())
            spans.append((start, stop))
            start = stop
    return spans


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
