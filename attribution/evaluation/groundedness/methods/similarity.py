"""Similarity of response and context: cosines of sentence vectors, and shared character n-grams (T24, section 4.1)."""

from __future__ import annotations

import threading

from attribution.embedders import EMBEDDERS, Embedder
from attribution.evaluation.groundedness import ONE, Given, Scored, joined
from attribution.evaluation.groundedness.methods.statements import of_context, parts, spans
from attribution.registry import build
from attribution.settings import Settings

LENGTHS = (3, 5, 8, 12, 16, 21, 25)  # characters of an n-gram; T24 takes 21, Weller et al. 25


class CosineSimilarity:
    """Method `cos_sim`: each sentence's cosine with the nearest sentence of the context, at least 0.

    `embedder=sentence_transformer` with `embedding_model=nlpaueb/legal-bert-base-uncased` is T24's own choice.
    """

    aggregation = "the mean over the sentences of the response"
    usage = None

    def __init__(self, settings: Settings) -> None:
        self._embedder: Embedder = build(EMBEDDERS, settings.embedder, settings, "embedder")
        self.version = f"cos_sim.1/{self._embedder.version}"

    def score(self, given: Given, stop: threading.Event) -> Scored:
        places, premises = spans(given.response), of_context(given)
        vectors = self._embedder.embed([given.response[a:b] for a, b in places] + premises)
        cosines = vectors[: len(places)] @ vectors[len(places) :].T
        nearest = [min(1.0, max(0.0, float(c))) for c in cosines.max(axis=1)]
        return Scored({ONE: sum(nearest) / len(nearest)}, parts(places, nearest))


class Quip:
    """Method `quip`: the QUIP score of Weller et al. 2023 (section 3), with the context in the corpus's place."""

    aggregation = "one score for the whole response"
    usage = None
    version = "quip.1"

    def __init__(self, settings: Settings) -> None:
        pass

    def score(self, given: Given, stop: threading.Event) -> Scored:
        response, context = _plain(given.response), _plain(joined(given.context))
        return Scored({f"n={n}": shared_ngrams(response, context, n) for n in LENGTHS})


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def shared_ngrams(response: str, context: str, n: int) -> float:
    """The share of the response's character n-grams, repeated ones counted each time, that the context has.

    A response that is shorter than n is one n-gram.
    """
    n = min(n, len(response))
    known = {context[i : i + n] for i in range(len(context) - n + 1)}
    own = [response[i : i + n] for i in range(len(response) - n + 1)]
    return sum(gram in known for gram in own) / len(own) if n else 1.0
