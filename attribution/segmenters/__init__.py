"""Split an answer into claims."""

from __future__ import annotations

import threading
from typing import Protocol

from attribution.settings import Settings
from attribution.tables import LLM, Entry, Need, Table
from attribution.types import LlmUsage, Segmented


class Segmenter(Protocol):
    """A way to split answers into claims."""

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Split an answer.

        Args:
            question: The question that it answers; may be empty.
            answer: The answer.
            stop: Ends requests to a language model once it is set.

        Returns:
            Claims in the order of the answer, none empty or repeated in one context, each with its
            spans in the answer. A sentence that fails is reported and stays one claim.
        """
        ...

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """Estimate the most that would be asked of the language model, without a request.

        Returns:
            None if none is used.
        """
        ...


class WithoutLlm:
    """Base of segmenters that ask no language model."""

    def __init__(self, settings: Settings) -> None:
        """Take no setting."""

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """Return None: nothing is asked."""
        return None


SEGMENTERS: Table[Segmenter] = Table(
    "segmenter",
    {
        "sentences": Entry(
            "attribution.segmenters.sentence_by_sentence:Sentences",
            "Sentences",
            "one claim a sentence or list item",
        ),
        "spacy": Entry(
            "attribution.segmenters.sentence_by_sentence:SpacySentences",
            "spaCy's sentences",
            "the sentences of spaCy's parse, as in “Enhancing Answer Attribution” (2024)",
            english=True,
        ),
        "clauses": Entry(
            "attribution.segmenters.clauses:Clauses",
            "Clauses",
            "propositions from the dependency parse; a sentence it is unsure of stays whole",
            english=True,
        ),
        "predpatt": Entry(
            "attribution.segmenters.predpatt:PredPatt",
            "PredPatt",
            "every predicate with its arguments; reworded if a language model is configured",
            english=True,
        ),
        "factscore": Entry(
            "attribution.segmenters.llm_segmenters:factscore",
            "FActScore",
            "independent facts of each sentence; asks an LLM",
            (LLM,),
        ),
        "wice": Entry(
            "attribution.segmenters.llm_segmenters:wice",
            "WiCE",
            "individual facts of each sentence; asks an LLM",
            (LLM,),
        ),
        "chen": Entry(
            "attribution.segmenters.llm_segmenters:chen",
            "Chen et al.",
            "splits as far as possible; asks an LLM",
            (LLM,),
        ),
        "conllu": Entry(
            "attribution.segmenters.llm_segmenters:conllu",
            "CoNLL-U",
            "shows each sentence and its parse to an LLM",
            (LLM,),
            english=True,
        ),
        "factscore-2": Entry(
            "attribution.segmenters.llm_segmenters:factscore_2",
            "FActScore, two examples",
            "as FActScore, with one fixed and one retrieved example; asks an LLM",
            (LLM,),
        ),
        "r_nd": Entry(
            "attribution.segmenters.llm_segmenters:r_nd",
            "Russellian and neo-Davidsonian",
            "propositions with one or two arguments, the finest split; asks an LLM",
            (LLM,),
        ),
        "direct": Entry(
            "attribution.segmenters.llm_segmenters:Direct",
            "Direct, with context",
            (
                "an LLM reads the question and the whole answer; the best in “Enhancing Answer "
                "Attribution” (2024)"
            ),
            (LLM,),
        ),
        "propsegment": Entry(
            "attribution.segmenters.propsegment:PropSegment",
            "SegmenT5 (download)",
            (
                "or another Hugging Face model of this kind (download needed, about 3 GB for the "
                "default)"
            ),
            (Need("pip install transformers torch", package="transformers"),),
            model_setting="segmenter_model",
            models={"sihaochen/SegmenT5-large": "3 GB"},
            english=True,
        ),
    },
)
