"""What the methods share: sentences, their aggregation, and the verifier's reading of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attribution.settings import Settings
from attribution.studies.groundedness import ONE, Given, PartScore, Scored
from attribution.text.sentences import sentences
from attribution.types import Probabilities, Span
from attribution.verifiers import VERIFIERS, key_of


def spans(text: str) -> list[Span]:
    """Return the sentences of a text with a letter or a digit; the whole text if none has."""
    found = [(a, b) for a, b in sentences(text) if any(c.isalnum() for c in text[a:b])]
    return found or [(0, len(text))]


def of_context(given: Given) -> list[str]:
    """Return the sentences of all passages, each once."""
    return list(dict.fromkeys(text[a:b] for text in given.context for a, b in spans(text)))


def parts(places: Sequence[Span], scores: Sequence[float]) -> tuple[PartScore, ...]:
    """Pair each place with its score."""
    return tuple(
        PartScore(start=a, end=b, score=round(s, 6))
        for (a, b), s in zip(places, scores, strict=True)
    )


def by_sentence(given: Given, score: Callable[[str], float]) -> Scored:
    """Score each sentence; the least of them is the response's (T24 5.1, 5.2)."""
    places = spans(given.response)
    return of_sentences(places, [score(given.response[a:b]) for a, b in places])


def of_sentences(places: Sequence[Span], scores: Sequence[float]) -> Scored:
    """Return the least score of the sentences."""
    return Scored({ONE: min(scores)}, parts(places, scores))


class Entailment:
    """The verifier of the settings, without a cache: what it takes is measured."""

    def __init__(self, settings: Settings) -> None:
        self.verifier = VERIFIERS.build(settings.verifier, settings)
        self.version, self.key = self.verifier.version, key_of(self.verifier)

    def read(self, statements: Sequence[str], premises: Sequence[str]) -> list[list[Probabilities]]:
        """Return a row for each statement, with the probabilities by each premise."""
        judged = iter(self.verifier.verify([(s, p) for s in statements for p in premises]))
        return [[next(judged).probabilities for _ in premises] for _ in statements]
