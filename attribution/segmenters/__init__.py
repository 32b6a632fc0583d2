"""Answer → claims."""

from __future__ import annotations

from typing import Protocol

from attribution.registry import Entry
from attribution.types import Claim


class Segmenter(Protocol):
    def segment(self, question: str, answer: str) -> list[Claim]:
        """Claims in the order of the answer, none empty, none twice, each with its spans in the answer."""
        ...


SEGMENTERS = {
    "sentences": Entry("attribution.segmenters.sentences:Sentences", "Sentences", "one claim a sentence or list item"),
}
