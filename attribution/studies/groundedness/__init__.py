"""Methods that decide if a response is grounded in its context: those that T24 5 compares, and this
project's pipeline.

Each method scores a whole response from 0 to 1. A binary judge decides by itself; of the others,
the threshold is tuned on labelled responses.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from attribution.tables import LLM, Entry, Need, Table
from attribution.text.sentences import sentences
from attribution.types import Span

ONE = ""  # name of the reading of a method with a single one
BINARY = ("lynx", "refchecker", "claims_verify")  # T24 5.3: their decision is their reply
TRAINED = ("selfcheck_multi", "contextnli")  # T24 5.3: their threshold is of the training split


@dataclass(frozen=True)
class Given:
    """The input of a method: a response without its label."""

    question: str  # may be empty
    context: tuple[str, ...]  # the passages that should support the response, at least one
    response: str


# The groundedness of a response, from 0 to 1, by reading. Some methods have several readings, such
# as n-grams of several lengths, tuned together with the threshold; of a judge the first counts.
Scores = Mapping[str, float]


class Method(Protocol):
    """A method; one that asks a language model has its client as `llm`."""

    def score(self, given: Given, stop: threading.Event) -> Scores:
        """Score the response. `stop` ends open prompts.

        Raises:
            BadInput: It cannot read the response.
            LlmFailed: A prompt has no usable reply.
            Unavailable: A model cannot be loaded.
        """
        ...


def _hub(name: str, model: str, revision: str = "") -> Need:
    option = f" --revision {revision}" if revision else ""
    step = f"download it once with `hf download {model}{option}`"
    return Need(step, check=f"attribution.studies.groundedness.methods.hub:{name}.is_downloaded")


def _method(place: str, label: str, note: str, *needs: Need, english: bool = True) -> Entry:
    return Entry(
        f"attribution.studies.groundedness.methods.{place}",
        label,
        note,
        needs=needs,
        english=english,
    )


_HHEM = "vectara/hallucination_evaluation_model"
METHODS: Table[Method] = Table(
    "method",
    {
        "cos_sim": _method(
            "local:CosineSimilarity",
            "Cosine similarity",
            "each sentence with the nearest one of the context; the paper embeds by legal-bert",
        ),
        "quip": _method(
            "local:Quip",
            "QUIP: shared character n-grams",
            (
                "the share of each sentence's character n-grams that the context has; n is tuned "
                "(21 in T24)"
            ),
            english=False,
        ),
        "hem_v1": _method(
            "hub:HemV1",
            "HHEM 1.0 (download)",
            "Vectara's cross-encoder on DeBERTa, 0.7 GB",
            _hub("HEM_V1", _HHEM, "hhem-1.0-open"),
        ),
        "hem_v2": _method(
            "hub:HemV2",
            "HHEM 2.1 (download)",
            "Vectara's model on FLAN-T5, 0.4 GB; needs the tokenizer of google/flan-t5-base too",
            _hub("HEM_V2", _HHEM),
            _hub("FLAN_T5", "google/flan-t5-base"),
        ),
        "factkb": _method(
            "hub:FactKB",
            "FactKB (download)",
            "RoBERTa pretrained on facts of knowledge bases, 0.5 GB",
            _hub("FACTKB", "bunsenfeng/FactKB"),
            _hub("ROBERTA", "roberta-base"),
        ),
        "gc": _method(
            "local:GroundednessClassifier",
            "Fine-tuned cross-encoder",
            "a model of your own, made by training.groundedness",
            Need("set gc_model to the folder of a model (training/README.md)", setting="gc_model"),
        ),
        "lynx": _method(
            "prompted:Lynx",
            "Direct prompting, as Lynx",
            "asks a served Lynx model, or any other, for PASS or FAIL with its reasoning",
            LLM,
            english=False,
        ),
        "refchecker": _method(
            "prompted:RefChecker",
            "RefChecker: triplets",
            "a language model draws triplets from the response and checks them one by one",
            LLM,
            english=False,
        ),
        "claims_verify": _method(
            "prompted:ClaimsVerify",
            "Claims of both sides compared",
            (
                "three prompts: the claims of the source, of the response, and which of these are "
                "contradicted or unsupported"
            ),
            LLM,
            english=False,
        ),
        "selfcheck_multi": _method(
            "prompted:SelfCheckMulti",
            "SelfCheck with other answers",
            "a language model answers again, and the verifier looks for contradictions",
            LLM,
        ),
        "pipeline": _method(
            "local:Pipeline",
            "This project's pipeline",
            "claims, the passages nearest to each, verdicts; with the methods of the settings",
        ),
        "contextnli": _method(
            "hub:ContextNli",
            "SelfCheck with the context, T24's model (download)",
            "SelfCheckGPT's DeBERTa with two outputs, 0.9 GB",
            _hub("CONTEXT_NLI", "potsawee/deberta-v3-large-mnli"),
        ),
    },
)


def joined(context: Sequence[str]) -> str:
    """Join the context into one text, for methods that read it whole."""
    return "\n\n".join(context)


# --- sentences ---


def spans(text: str) -> list[Span]:
    """Return the sentences of a text with a letter or a digit; the whole text if none has."""
    found = [(a, b) for a, b in sentences(text) if any(c.isalnum() for c in text[a:b])]
    return found or [(0, len(text))]


def of_context(given: Given) -> list[str]:
    """Return the sentences of all passages, each once."""
    return list(dict.fromkeys(text[a:b] for text in given.context for a, b in spans(text)))


def by_sentence(given: Given, score: Callable[[str], float]) -> Scores:
    """Score each sentence; the least of them is the response's (T24 5.1, 5.2)."""
    return {ONE: min(score(given.response[a:b]) for a, b in spans(given.response))}
