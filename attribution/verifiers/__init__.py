"""(claim, evidence, title) → the probabilities of the three relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attribution.registry import LLM, Entry, Need
from attribution.types import Judgement, LlmUsage, Pair


class Verifier(Protocol):
    version: str  # model and revision: part of the cache key

    @property
    def usage(self) -> LlmUsage | None:
        """What language models cost so far; None where none is used."""
        ...

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement for each (claim, evidence) or (claim, evidence, title), in order.

        Raises BadInput for an empty claim or evidence, Unavailable for a model that cannot be loaded.
        """
        ...

    def estimate(self, pairs: Sequence[Pair]) -> LlmUsage | None:
        """What verifying would cost, without a request; None where no language model is used."""
        ...


VERIFIERS = {
    "embedded": Entry(
        "attribution.verifiers.embedded:Embedded",
        "Embedded NLI model",
        "part of the project: no download, no key",
        bundled=True,
        english=True,
    ),
    "deberta": Entry(
        "attribution.verifiers.deberta:Deberta",
        "DeBERTa (download)",
        "or another Hugging Face model for NLI (download needed, about 0.9 GB for the default)",
        needs=(Need("pip install transformers torch", package="transformers"),),
        model_setting="verifier_model",
        english=True,
    ),
    "llm": Entry(
        "attribution.verifiers.llm:LlmVerifier",
        "Language model, with quotes",
        "sends each claim with its passages to the language model; only verbatim quotes decide",
        needs=(LLM,),
    ),
}
