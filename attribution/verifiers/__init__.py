"""(claim, evidence, title) → the probabilities of the three relations; how a verifier is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from attribution.models import files
from attribution.models.mpnet import DOWNLOAD
from attribution.settings import Settings
from attribution.tables import LLM, Entry, Need, Table
from attribution.types import Failure, Judgement, Pair


class Verifier(Protocol):
    """Judges pairs.

    One that asks a language model may also have `key`; `usage`, the LlmUsage of its requests so
    far; and `estimate(pairs)`, the likely LlmUsage of verifying them, without a request.
    """

    version: str  # model and revision

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement for each (claim, evidence) or (claim, evidence, title), in order.

        Raises BadInput for an empty claim or evidence, Unavailable for a model that cannot be
        loaded, and LlmFailed for a language model that did not answer.
        """
        ...


VERIFIERS: Table[Verifier] = Table(
    "verifier",
    {
        "auto": Entry(
            "attribution.verifiers:automatic",
            "Automatic",
            "uses the best installed model",
            bundled=True,
            english=True,
        ),
        "embedded-base": Entry(
            "attribution.verifiers.reader:embedded_base",
            "Embedded base model",
            (
                "all-mpnet-base-v2 with the project's own training; made ready once, in less than "
                "a minute"
            ),
            needs=(
                Need(
                    DOWNLOAD.format("embedded-base"),
                    check="attribution.models.mpnet:verifier_is_available",
                ),
            ),
            download="attribution.verifiers.reader:make",
            bundled=True,
            english=True,
        ),
        "embedded-small": Entry(
            "attribution.verifiers.reader:embedded_small",
            "Embedded small model",
            "34 MB, part of the project: nearly twice as fast as the base model, and finds less",
            bundled=True,
            english=True,
        ),
        "deberta": Entry(
            "attribution.verifiers.deberta:Deberta",
            "DeBERTa (download)",
            "or another Hugging Face model for NLI (download needed, about 0.9 GB for the default)",
            needs=(Need("pip install transformers torch", package="transformers"),),
            model_setting="verifier_model",
            models={
                "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli": "large, MIT, 0.9 GB",
                "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli": "base, MIT, 0.4 GB, 3 times faster",
            },
            download="attribution.verifiers.deberta:make",
            english=True,
        ),
        "minicheck": Entry(
            "attribution.verifiers.fact_checkers:minicheck",
            "MiniCheck (download)",
            (
                "a fact checker for what language models write (Tang et al. 2024); contradictions "
                "are the NLI model's"
            ),
            needs=(Need("pip install transformers torch", package="transformers"),),
            model_setting="verifier_model",
            models={
                "lytang/MiniCheck-RoBERTa-Large": "RoBERTa large, MIT, about 1.4 GB",
                "lytang/MiniCheck-DeBERTa-v3-Large": "DeBERTa large, MIT, about 1.7 GB",
                "lytang/MiniCheck-Flan-T5-Large": "Flan-T5 large, MIT, 3.1 GB: the best, and slow",
            },
            download="attribution.verifiers.fact_checkers:make_minicheck",
            english=True,
        ),
        "factcg": Entry(
            "attribution.verifiers.fact_checkers:factcg",
            "FactCG (download)",
            (
                "a fact checker trained on claims over several sentences (Lei et al. 2025); "
                "contradictions as MiniCheck"
            ),
            needs=(Need("pip install transformers torch", package="transformers"),),
            model_setting="verifier_model",
            models={"yaxili96/FactCG-DeBERTa-v3-Large": "DeBERTa large, MIT, about 1.7 GB"},
            download="attribution.verifiers.fact_checkers:make_factcg",
            english=True,
        ),
        "llm": Entry(
            "attribution.verifiers.llm:LlmVerifier",
            "Language model, with quotes",
            "sends each claim and passage to the language model; only verbatim quotes decide",
            needs=(LLM,),
        ),
        "llm-pair": Entry(
            "attribution.verifiers.llm:PairVerifier",
            "Language model, pair by pair",
            (
                "as in “Enhancing Answer Attribution” (2024): one prompt for each claim and "
                "passage, one word in reply"
            ),
            needs=(LLM,),
        ),
    },
)


HUB = (
    "factcg",
    "minicheck",
    "deberta",
)  # verifiers that are downloaded, the best on LLM-AggreFact first


def model_of(name: str, settings: Settings) -> str:
    """Return the model of a downloaded verifier: the settings', unless it is another's; else one
    that is there.
    """
    chosen, own = settings.verifier_model, VERIFIERS[name].models
    if chosen and not any(chosen in VERIFIERS[other].models for other in HUB if other != name):
        return chosen
    return next((model for model in own if files.weights(model)), next(iter(own)))


def download(name: str, settings: Settings) -> Path:
    """Download the settings' model of a verifier unless it is on this machine."""
    return files.download(model_of(name, settings))


def is_downloaded(name: str, settings: Settings) -> bool:
    """Return True if the weights of a downloaded verifier are on this machine."""
    return files.weights(model_of(name, settings)) is not None


@dataclass(frozen=True)
class BestVerifier:
    """A verifier's name, and what a better one needs; empty if none is missing."""

    name: str
    missing: str = ""


def choose(settings: Settings) -> BestVerifier:
    """Choose the verifier that `auto` means on this machine, under these settings."""
    model = settings.verifier_model
    for name in HUB:
        is_meant = name == "deberta" or not model or model in VERIFIERS[name].models
        if is_meant and is_downloaded(name, settings):
            return BestVerifier(name)
    return beside(settings)


def beside(settings: Settings) -> BestVerifier:
    """Choose the NLI model whose contradictions stand beside a fact checker's support."""
    missing = VERIFIERS["embedded-base"].missing(settings)
    return BestVerifier("embedded-small", missing) if missing else BestVerifier("embedded-base")


def smaller_verifier(settings: Settings) -> Failure | None:
    """Return a notice for a run with verifier `auto` if the base model is missing, else None."""
    choice = choose(settings) if settings.verifier == "auto" else None
    if choice is None or not choice.missing:
        return None
    used = VERIFIERS[choice.name].label
    message = (
        "The base model is missing, so the small one is used, which finds less. "
        f"To get it: {choice.missing}"
    )
    return Failure(
        stage="verify", subject="verifier", kind="verifier_fell_back", message=message, instead=used
    )


def automatic(settings: Settings) -> Verifier:
    """Verifier `auto`."""
    return VERIFIERS.build(choose(settings).name, settings)
