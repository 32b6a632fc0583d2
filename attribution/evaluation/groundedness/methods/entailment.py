"""Entailment of each sentence by the context (T24, section 4.2)."""

from __future__ import annotations

import threading

from attribution.evaluation.groundedness import ONE, Given, Scored
from attribution.evaluation.groundedness.methods.statements import Entailment, parts, spans
from attribution.settings import Settings
from attribution.types import LlmUsage


class GroundednessClassifier:
    """Method `gc`. T24 fine-tunes a cross-encoder on altered twins of its answers, which are not public.

    In its place stands the cross-encoder that this project fine-tuned: the verifier of the settings. A sentence scores
    the probability that the passage which supports it best entails it.
    """

    aggregation = "the minimum over the sentences of the response: one that is not supported decides"

    def __init__(self, settings: Settings) -> None:
        self._entailment = Entailment(settings)
        self.version = f"gc.1/{self._entailment.version}"

    @property
    def usage(self) -> LlmUsage | None:
        return self._entailment.verifier.usage

    def score(self, given: Given, stop: threading.Event) -> Scored:
        places = spans(given.response)
        read = self._entailment.read([given.response[a:b] for a, b in places], given.context)
        supported = [max(p.entailed for p in row) for row in read]
        return Scored({ONE: min(supported)}, parts(places, supported))
