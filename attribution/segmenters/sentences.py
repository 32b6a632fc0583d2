"""One claim a sentence, list item or table row (V24 4.1)."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from attribution.settings import Settings
from attribution.text.parse import parse
from attribution.text.passages import statements
from attribution.types import Claim, LlmUsage, Segmented, Span, content_id


class Sentences:
    """Segmenter `sentences`."""

    def __init__(self, settings: Settings) -> None:
        pass

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """None: no language model is used."""
        return None

    def _spans(self, answer: str) -> Iterator[tuple[str, Span]]:
        for passage in statements(answer):
            for start, end in passage.sentences():
                yield passage.text[start:end], passage.span(start, end)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Claims in the order of the answer; a claim said twice is one claim with two spans."""
        spans: dict[str, list[Span]] = {}
        texts: dict[str, str] = {}
        for text, span in self._spans(answer):
            key = " ".join(text.casefold().split())
            texts.setdefault(key, text)
            spans.setdefault(key, []).append(span)
        claims: list[Claim] = []
        for key, text in texts.items():
            first, times = spans[key][0], len(spans[key])
            claim_id = content_id(text, str(first))
            claim = Claim(
                id=claim_id, text=text, spans=tuple(spans[key]), sentence=first, times=times
            )
            claims.append(claim)
        return Segmented(tuple(claims))


class SpacySentences(Sentences):
    """Segmenter `spacy`: the sentences of spaCy's parse (V24 4.1)."""

    def _spans(self, answer: str) -> Iterator[tuple[str, Span]]:
        for passage in statements(answer):
            whole = passage.text
            starts = [s.start_char for s in parse(whole).sents]
            starts = [a for a in starts if a and whole[a - 1].isspace()]  # none within a word
            for a, b in zip([0, *starts], [*starts, len(whole)], strict=True):
                text = whole[a:b].strip()
                start = whole.index(text, a)
                if any(c.isalnum() for c in text):
                    yield text, passage.span(start, start + len(text))
