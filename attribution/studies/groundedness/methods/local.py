"""Groundedness methods on this machine: similarity (T24 5.1), a model of one's own (T24 5.4), and
the pipeline itself.
"""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from attribution.embedders import EMBEDDERS
from attribution.errors import Unavailable
from attribution.events import finished
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.groundedness import (
    ONE,
    Given,
    Scores,
    joined,
    of_context,
    spans,
)
from attribution.studies.groundedness.methods.hub import HubClassifier, HubMethod
from attribution.types import (
    UNCHECKED,
    Document,
    Report,
    Verdict,
)


class GroundednessClassifier(HubMethod):
    """Method `gc` (T24 5.4): a cross-encoder with one logistic output, on pairs of sentences.

    `training.groundedness` makes such a model; the setting `gc_model` names its folder.

    Score: the best sentence of the context, and of the response's sentences the least.
    """

    def __init__(self, settings: Settings) -> None:
        folder = Path(settings.gc_model)
        super().__init__(settings, HubClassifier(str(folder)))
        weights = folder / "model.safetensors"
        if not weights.is_file():
            raise Unavailable(
                f"gc_model {str(folder)!r} has no model.safetensors; see training/README.md"
            )


LENGTHS = (3, 5, 8, 12, 16, 21, 25)  # characters of an n-gram; T24 takes 21, Weller et al. 25


class CosineSimilarity:
    """Method `cos_sim` (T24 5.1): each sentence's cosine with the nearest one of the context.

    `embedder=sentence_transformer` with `embedding_model=nlpaueb/legal-bert-base-uncased` is T24's
    own choice.

    Score: the least of the response's sentences, at least 0.
    """

    def __init__(self, settings: Settings) -> None:
        self._embedder = EMBEDDERS.chosen(settings)

    def score(self, given: Given, stop: threading.Event) -> Scores:
        places, premises = spans(given.response), of_context(given)
        vectors = self._embedder.embed([given.response[a:b] for a, b in places] + premises)
        cosines = vectors[: len(places)] @ vectors[len(places) :].T
        return {ONE: min(1.0, max(0.0, float(cosines.max(axis=1).min())))}


class Quip:
    """Method `quip` (T24 5.1): shared character n-grams (Weller et al. 2023, section 3).

    Score: the sentence of the response that shares least with the context, for each length.
    """

    def __init__(self, settings: Settings) -> None:
        pass

    def score(self, given: Given, stop: threading.Event) -> Scores:
        context = _plain(joined(given.context))
        sentences = [_plain(given.response[start:end]) for start, end in spans(given.response)]
        scores: dict[str, float] = {}
        for n in LENGTHS:
            scores[f"n={n}"] = min(shared_ngrams(sentence, context, n) for sentence in sentences)
        return scores


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def shared_ngrams(response: str, context: str, n: int) -> float:
    """Return the share of a text's character n-grams that the context has.

    Repeated ones count each time; a text that is shorter than n is one n-gram.
    """
    n = min(n, len(response))
    known = {context[i : i + n] for i in range(len(context) - n + 1)}
    own = [response[i : i + n] for i in range(len(response) - n + 1)]
    return sum(gram in known for gram in own) / len(own) if n else 1.0


class Pipeline:
    """Method `pipeline`: a run over the context alone, with the methods of the settings.

    Score: the least support of a checked claim; a response without one is grounded.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.model_copy(update={"sources": ("documents",)})

    def score(self, given: Given, stop: threading.Event) -> Scores:
        documents = [
            Document(f"Passage {number}", text.encode(), "text/plain")
            for number, text in enumerate(given.context, 1)
        ]
        with (
            TemporaryDirectory() as folder,  # of its own, so that nothing is known beforehand
            closing(Store.open(f"sqlite:///{folder}/run.sqlite3")) as store,
        ):
            steps = run(given.question, given.response, self._settings, store, documents, stop)
            report = finished(steps)
        checked = [verdict for verdict in report.verdicts if verdict.label not in UNCHECKED]
        return {ONE: min((_support(v, report) for v in checked), default=1.0)}


def _support(verdict: Verdict, report: Report) -> float:
    """Return the best passage's entailment, at most one minus the surest contradiction."""
    evidence = [piece.probabilities for piece in report.evidence_of(verdict.claim_id)]
    entailed = max((one.entailed for one in evidence), default=0.0)
    if verdict.label not in ("contradicted", "conflicting"):
        return entailed
    return min(entailed, 1 - max(one.contradicted for one in evidence))
