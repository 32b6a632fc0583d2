"""How well an answer is decomposed into claims (W24, section 5: DecompScore, coherence, coverage, atomicity)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attribution.text.lexical import terms
from attribution.types import Claim, Span, Verdict

_WORD = re.compile(r"[^\W_]+(?:[.,'’-][^\W_]+)*")


@dataclass(frozen=True)
class Decomposition:
    """Figures of one answer and segmenter. Shares are between 0 and 1, and None where nothing was measured."""

    claims: int
    unique: int  # distinct texts
    sentences: int  # of these, check-worthy ones
    supported: int  # claims that the sources support
    characters_per_claim: float
    claims_per_sentence: float
    coherent: float | None  # share of the claims that their sentence entails
    coverage: float | None  # share of the content words of those sentences that occur in a claim
    atomic: float | None  # share of the claims that cannot be split further
    uncovered: tuple[Span, ...]  # content words of the answer that occur in no claim

    @property
    def decompscore(self) -> float | None:
        """The number of claims that their own sentence entails (W24: an adaptation of FActScore to the sentence)."""
        return None if self.coherent is None else self.coherent * self.claims


def decomposition(
    answer: str,
    sentences: Sequence[Claim],
    claims: Sequence[Claim],
    verdicts: Sequence[Verdict],
    split: Callable[[str], int] | None = None,
) -> Decomposition:
    """Figures of the factual claims; `sentences` are the answer's own, `split` counts the claims in a text."""
    factual = [c for c in claims if c.worthiness == "factual"]
    worthy = [c for c in sentences if c.worthiness == "factual"]
    words = [span for c in worthy for a, b in c.spans for span in content_words(answer, (a, b))]
    uncovered = tuple(span for span in words if not _covered(answer, span, factual))
    supported = {v.claim_id for v in verdicts if v.label == "supported"}
    count = len(factual)
    return Decomposition(
        claims=count,
        unique=len({" ".join(c.text.casefold().split()) for c in factual}),
        sentences=len(worthy),
        supported=sum(c.id in supported for c in factual),
        characters_per_claim=sum(len(c.text) for c in factual) / count if count else 0.0,
        claims_per_sentence=count / len(worthy) if worthy else 0.0,
        coherent=sum(c.coherent for c in factual) / count if count else None,
        coverage=1 - len(uncovered) / len(words) if words else None,
        atomic=sum(split(c.text) < 2 for c in factual) / count if split and count else None,
        uncovered=uncovered,
    )


def content_words(answer: str, within: Span) -> list[Span]:
    """The content words within a span: no function words, no punctuation."""
    start, end = within
    words = [(start + m.start(), start + m.end()) for m in _WORD.finditer(answer[start:end])]
    return [span for span in words if _stems(answer[slice(*span)])]


def _stems(text: str) -> frozenset[str]:
    words, numbers, _ = terms(text)
    return words | numbers


def _covered(answer: str, span: Span, claims: Sequence[Claim]) -> bool:
    """Whether a claim made of the text around the word contains it."""
    word = _stems(answer[slice(*span)])
    return any(word <= _stems(c.text) for c in claims if _near(c, span))


def _near(claim: Claim, span: Span) -> bool:
    places = [claim.sentence] if claim.sentence else []
    return any(a <= span[0] and span[1] <= b for a, b in (*places, *claim.spans))
