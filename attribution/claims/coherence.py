"""Does the answer say what a claim says? Subclaims that their own sentence does not entail are left out (W24, 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attribution.types import Claim

Entailed = Callable[[Sequence[tuple[str, str]]], Sequence[float]]  # (claim, premise) pairs → p(entailed)


def judge(answer: str, claims: Sequence[Claim], entailed: Entailed, threshold: float) -> list[Claim]:
    """Claims with `coherence` and `coherent` set; one that repeats its sentence word for word needs no judging.

    The premise is the claim's sentence; of a claim that was drawn from several, the whole answer.
    """
    pairs = {c.id: (c.text, premise) for c in claims if (premise := _premise(answer, c)) is not None}
    judged = dict(zip(pairs, entailed(list(pairs.values())), strict=True)) if pairs else {}
    return [
        c.model_copy(update={"coherence": round(judged[c.id], 4), "coherent": judged[c.id] >= threshold})
        if c.id in judged
        else c
        for c in claims
    ]


def _premise(answer: str, claim: Claim) -> str | None:
    sentence = answer[slice(*claim.sentence)] if claim.sentence else answer
    return None if " ".join(sentence.split()) == " ".join(claim.text.split()) else sentence
