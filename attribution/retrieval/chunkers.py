"""Cut a page into chunks, of a fixed length or recursively, and read them in their context."""

from __future__ import annotations

from typing import Protocol

from attribution.settings import Settings
from attribution.tables import Entry, Need, Table
from attribution.text.sentences import possible_ends, sentences
from attribution.types import Chunk, Page, Span

SENTENCES_BEFORE = 2
READ_CHARACTERS = 900  # about what the reader reads in one pass


class Chunker(Protocol):
    def chunk(self, page: Page) -> list[Chunk]:
        """Chunks in the page's order, at most `chunk_size` characters each.

        Together they hold every word of the page, none is empty, and `page.text[start:end] ==
        text`.
        """
        ...


class Fixed:
    """Chunks of a fixed length (V24 4.3: 256 or 512).

    At most `chunk_size` characters, cut between words; after a sentence where one ends in the last
    third.
    """

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
        ends = possible_ends(text, start + self.size * 2 // 3, limit)
        if ends:
            return ends[-1]
        if text[limit].isspace():
            return limit
        space = max(text.rfind(c, start + 1, limit) for c in " \n\t")
        return space if space > start else limit  # one word longer than a chunk is cut


class Recursive:
    """The largest units that fit: paragraphs, sentences, words, by text-splitter.

    At most `chunk_size` characters; a chunk starts up to `chunk_overlap` characters before the last
    one's end.
    """

    def __init__(self, settings: Settings) -> None:
        from semantic_text_splitter import TextSplitter

        overlap = min(settings.chunk_overlap, settings.chunk_size // 2)
        # untrimmed, so that what counts as white space is decided by Python alone
        self._splitter = TextSplitter(settings.chunk_size, overlap=overlap, trim=False)

    def chunk(self, page: Page) -> list[Chunk]:
        chunks = []
        for start, text in self._splitter.chunk_indices(page.text):
            stripped = text.strip()
            if stripped:
                first = start + len(text) - len(text.lstrip())
                chunks.append(Chunk(page.id, first, first + len(stripped), stripped))
        return chunks


CHUNKERS: Table[Chunker] = Table(
    "chunker",
    {
        "fixed": Entry(
            "attribution.retrieval.chunkers:Fixed",
            "Fixed length",
            "so many characters, cut between words",
        ),
        "recursive": Entry(
            "attribution.retrieval.chunkers:Recursive",
            "Recursive, overlapping",
            "paragraphs, then sentences, then words, as large as fits; neighbours share "
            "`chunk_overlap` characters",
            needs=(Need("pip install semantic-text-splitter", package="semantic_text_splitter"),),
        ),
    },
)


def with_context(text: str, start: int, end: int) -> Span:
    """Extend a chunk by the sentences before it, which often name what it is about.

    Args:
        text: The text of the page.
        start: Where the chunk begins.
        end: Where it ends.

    Returns:
        The span of the chunk with at most `SENTENCES_BEFORE` sentences of its line before it, as
        far as both have `READ_CHARACTERS`.
    """
    line = text.rfind("\n", max(0, end - READ_CHARACTERS - 1), start) + 1
    first = max(line, end - READ_CHARACTERS)
    starts = [first + a for a, _ in sentences(text[first:end]) if first + a < start]
    before = starts[-SENTENCES_BEFORE:]
    return (before[0] if before else start), end
