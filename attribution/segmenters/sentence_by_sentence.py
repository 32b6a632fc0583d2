"""One claim a sentence, list item or table row (V24 4.1)."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from attribution.segmenters.alignment import merge
from attribution.settings import Settings
from attribution.text.parse import parse
from attribution.text.passages import AnswerPassage, statements
from attribution.text.sentences import trimmed
from attribution.types import Claim, LlmUsage, Segmented, Span


class Sentences:
    """Segmenter `sentences`."""

    def __init__(self, settings: Settings) -> None:
        pass

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """None: no language model is used."""
        return None

    def _spans(self, passage: AnswerPassage) -> Iterator[Span]:
        yield from passage.sentences()

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Claims in the order of the answer; a claim said twice is one claim with two spans."""
        claims: list[Claim] = []
        for passage in statements(answer):
            for start, end in self._spans(passage):
                span = passage.span(start, end)
                text = passage.text[start:end]
                context = passage.item_context
                claim = Claim(id="-", text=text, spans=(span,), sentence=span, context=context)
                claims.append(claim)
        return Segmented(merge(claims))


class SpacySentences(Sentences):
    """Segmenter `spacy`: the sentences of spaCy's parse (V24 4.1)."""

    def _spans(self, passage: AnswerPassage) -> Iterator[Span]:
        whole = passage.text
        starts = [s.start_char for s in parse(whole).sents]
        starts = [a for a in starts if a and whole[a - 1].isspace()]  # none within a word
        for a, b in zip([0, *starts], [*starts, len(whole)], strict=True):
            start, end = trimmed(whole, a, b)
            if any(c.isalnum() for c in whole[start:end]):
                yield start, end
