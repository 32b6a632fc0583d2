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
    "clauses": Entry(
        "attribution.segmenters.clauses:Clauses",
        "Clauses",
        "propositions from the dependency parse; a sentence it is not sure of stays whole",
    ),
    "predpatt": Entry(
        "attribution.segmenters.predpatt:PredPatt",
        "PredPatt",
        "predicates with their arguments (W24); complete, but plainly worded",
    ),
}
