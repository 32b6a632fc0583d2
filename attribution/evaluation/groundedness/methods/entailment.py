"""Entailment of each sentence by the context (T24, section 4.2)."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

from attribution.errors import Unavailable
from attribution.evaluation.groundedness import ONE, Given, Method, Scored
from attribution.evaluation.groundedness.methods.hub_models import HubModel
from attribution.evaluation.groundedness.methods.pair_models import HemV1
from attribution.evaluation.groundedness.methods.statements import Entailment, parts, spans
from attribution.settings import Settings
from attribution.types import LlmUsage
from attribution.verifiers import usage_of


class GroundednessClassifier:
    """Method `gc`. T24 fine-tunes a cross-encoder on altered twins of its answers, which are not public.

    In its place stands the cross-encoder that this project fine-tuned: the verifier of the settings. A sentence scores
    the probability that the passage which supports it best entails it. `training.twins` makes a model in T24's way; the
    setting `gc_model` names its folder (`OwnClassifier`).
    """

    aggregation = "the minimum over the sentences of the response: one that is not supported decides"

    def __init__(self, settings: Settings) -> None:
        self._entailment = Entailment(settings)
        self.version = f"gc.1/{self._entailment.version}"

    @property
    def usage(self) -> LlmUsage | None:
        return usage_of(self._entailment.verifier)

    def score(self, given: Given, stop: threading.Event) -> Scored:
        places = spans(given.response)
        read = self._entailment.read([given.response[a:b] for a, b in places], given.context)
        supported = [max(p.entailed for p in row) for row in read]
        return Scored({ONE: min(supported)}, parts(places, supported))


class OwnClassifier(HemV1):
    """Method `gc` with a model of one's own: a cross-encoder with one logistic output, on the whole response."""

    def __init__(self, settings: Settings) -> None:
        folder = Path(settings.gc_model)
        super().__init__(settings, HubModel(str(folder)))
        weights = folder / "model.safetensors"
        if not weights.is_file():
            raise Unavailable(
                f"gc_model is {str(folder)!r}, where there is no model.safetensors; see training/README.md"
            )
        with weights.open("rb") as file:
            self.version = f"gc.own.1/{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"


def classifier(settings: Settings) -> Method:
    """The model that the settings name, else the project's own."""
    return OwnClassifier(settings) if settings.gc_model else GroundednessClassifier(settings)
