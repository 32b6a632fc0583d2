"""One claim a sentence, list item or table row (V24, section 4.1)."""

from __future__ import annotations

import re

from attribution.settings import Settings
from attribution.text.markdown import Passage, passages
from attribution.text.sentences import sentences
from attribution.types import Claim, Segmented, Span, content_id

_MARKER = re.compile(r"\s*\(?\d{1,2}[.)](?:\s+|$)")


def boundaries(text: str) -> list[Span]:
    """Sentences of plain text that say something, without the number of an item within a line."""
    spans: list[Span] = []
    for start, end in sentences(text):
        marker = _MARKER.match(text, start, end)
        start = marker.end() if marker else start
        if any(c.isalnum() for c in text[start:end]):
            spans.append((start, end))
    return spans


class Sentences:
    """Segmenter `sentences`."""

    def __init__(self, settings: Settings) -> None:
        pass

    def segment(self, question: str, answer: str) -> Segmented:
        """Claims in the order of the answer; a claim said twice is one claim with two spans."""
        found: dict[str, tuple[str, list[Span]]] = {}
        for passage in passages(answer):
            for text, span in self._pieces(passage):
                found.setdefault(" ".join(text.casefold().split()), (text, []))[1].append(span)
        return Segmented(
            tuple(
                Claim(id=content_id(text, str(spans[0])), text=text, spans=tuple(spans), sentence=spans[0])
                for text, spans in found.values()
            )
        )

    def _pieces(self, passage: Passage) -> list[tuple[str, Span]]:
        if not any(c.isalnum() for c in passage.text):
            return []
        spans = [(0, len(passage.text))] if passage.row else boundaries(passage.text)
        return [(passage.text[a:b], passage.span(a, b)) for a, b in spans]
