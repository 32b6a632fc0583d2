"""Does the answer say what a claim says? Subclaims not entailed by their sentence are dropped (W24, section 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attribution.text.passages import passages, visible
from attribution.types import Claim, Span

Entailment = Callable[[Sequence[tuple[str, str]]], Sequence[float]]  # (claim, premise) pairs → p(entailed)


def check_coherence(answer: str, claims: Sequence[Claim], entailment: Entailment, threshold: float) -> list[Claim]:
    """Claims with `coherence` and `coherent` set, except those that repeat their sentence word for word.

    The premise is the claim's sentence, of a table its row with the headings; for a claim drawn from several sentences
    it is the whole answer.
    """
    rows = {p.span(0, len(p.text)): p.text for p in passages(answer) if p.kind == "row"}
    pairs = {c.id: (c.text, premise) for c in claims if (premise := _premise(answer, c, rows)) is not None}
    scores = dict(zip(pairs, entailment(list(pairs.values())), strict=True)) if pairs else {}
    return [
        c.model_copy(update={"coherence": round(scores[c.id], 4), "coherent": scores[c.id] >= threshold})
        if c.id in scores
        else c
        for c in claims
    ]


def _premise(answer: str, claim: Claim, rows: Mapping[Span, str]) -> str | None:
    if not claim.sentence:
        return answer
    sentence = rows.get(claim.sentence) or visible(answer, *claim.sentence)
    return None if sentence.split() == claim.text.split() else sentence
