"""One claim a sentence, list item or table row (V24 4.1)."""

from __future__ import annotations

import threading

from attribution.settings import Settings
from attribution.text.passages import statements
from attribution.types import Claim, LlmUsage, Segmented, Span, content_id


class Sentences:
    """Segmenter `sentences`."""

    def __init__(self, settings: Settings) -> None:
        pass

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """None: no language model is used."""
        return None

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Claims in the order of the answer; a claim said twice is one claim with two spans."""
        claims: dict[str, tuple[str, list[Span]]] = {}
        for passage in statements(answer):
            for start, end in passage.sentences():
                text = passage.text[start:end]
                claims.setdefault(" ".join(text.casefold().split()), (text, []))[1].append(passage.span(start, end))
        return Segmented(
            tuple(
                Claim(
                    id=content_id(text, str(spans[0])),
                    text=text,
                    spans=tuple(spans),
                    sentence=spans[0],
                    times=len(spans),
                )  # fmt: skip
                for text, spans in claims.values()
            )
        )
