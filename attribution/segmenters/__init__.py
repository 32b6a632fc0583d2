"""Answer → claims."""

from __future__ import annotations

from typing import Protocol

from attribution.registry import Entry
from attribution.types import Segmented


class Segmenter(Protocol):
    def segment(self, question: str, answer: str) -> Segmented:
        """Claims in the order of the answer, none empty, none twice, each with its spans in the answer.

        A sentence that could not be worked on is a failure and stays as the claim it is.
        """
        ...


SEGMENTERS = {
    "sentences": Entry("attribution.segmenters.sentences:Sentences", "Sentences", "one claim a sentence or list item"),
}
