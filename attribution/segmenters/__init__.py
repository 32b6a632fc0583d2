"""Answer → claims."""

from __future__ import annotations

from typing import Protocol

from attribution.registry import LLM, Entry, Need
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
        "predicates with their arguments (W24); plainly worded, fluently where a language model is configured",
    ),
    "factscore": Entry(
        "attribution.segmenters.llm:factscore", "FActScore", "independent facts of each sentence; asks an LLM", (LLM,)
    ),
    "wice": Entry("attribution.segmenters.llm:wice", "WiCE", "individual facts of each sentence; asks an LLM", (LLM,)),
    "chen": Entry("attribution.segmenters.llm:chen", "Chen et al.", "splits as far as it goes; asks an LLM", (LLM,)),
    "conllu": Entry(
        "attribution.segmenters.llm:conllu", "CoNLL-U", "shows an LLM each sentence with its parse", (LLM,)
    ),
    "r_nd": Entry(
        "attribution.segmenters.llm:r_nd",
        "Russellian and neo-Davidsonian",
        "one- and two-place propositions, the finest cut; asks an LLM",
        (LLM,),
    ),
    "direct": Entry(
        "attribution.segmenters.direct:Direct",
        "Direct, with context",
        "an LLM reads question and answer as a whole; the best in V24",
        (LLM,),
    ),
    "propsegment": Entry(
        "attribution.segmenters.propsegment:PropSegment",
        "SegmenT5 or another T5 of the hub",
        "downloads the model at first use (about 3 GB for the default)",
        (Need("pip install transformers torch", package="transformers"),),
    ),
}
