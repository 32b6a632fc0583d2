"""Drop subclaims that their own sentence does not entail (W24 8.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attribution.text.passages import visible
from attribution.types import Claim

Pairs = Sequence[tuple[str, str]]  # claim and premise
Entailment = Callable[[Pairs], Sequence[float | None]]  # probabilities; None: too long to read


def check_coherence(
    answer: str, claims: Sequence[Claim], entailment: Entailment, threshold: float
) -> list[Claim]:
    """Set `coherence` and `coherent` on claims that say something else than their whole sentence.

    Args:
        answer: The premise of a claim drawn from several sentences. For any other claim it is its
            sentence, of a table its row with the headings.
        claims: Of the answer.
        entailment: Reads the pairs; a claim whose pair is too long stays as it is.
        threshold: Least probability of a coherent claim.
    """
    pairs: dict[str, tuple[str, str]] = {}
    for claim in claims:
        premise = premise_of(answer, claim)
        if premise.split() != claim.text.split():
            pairs[claim.id] = (claim.text, premise)
    scores = dict(zip(pairs, entailment(list(pairs.values())), strict=True))
    return [_scored(claim, scores.get(claim.id), threshold) for claim in claims]


def _scored(claim: Claim, score: float | None, threshold: float) -> Claim:
    if score is None:
        return claim
    update = {"coherence": round(score, 4), "coherent": score >= threshold}
    return claim.model_copy(update=update)


def premise_of(answer: str, claim: Claim) -> str:
    """Return the sentence of a claim without citation marks, or the answer if it has none."""
    if claim.sentence is None:
        return answer
    return visible(answer, *claim.sentence)
