"""Drop subclaims that their own sentence does not entail (W24 8.2)."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence

from attribution.errors import StageFailure
from attribution.text.passages import AnswerPassage, passages, visible
from attribution.types import Claim, Failure

Pairs = Sequence[tuple[str, str]]  # claim and premise
Entailment = Callable[[Pairs], Sequence[float | None]]  # probabilities; None: too long to read
MAX_CHARACTERS = 300_000  # of the pairs of an answer, a hundred more counted for each
GROUP = 20  # pairs between two looks at the stop signal


def check_coherence(
    answer: str,
    claims: Sequence[Claim],
    entailment: Entailment,
    threshold: float,
    stop: threading.Event | None = None,
) -> tuple[list[Claim], list[Failure]]:
    """Set `coherence` and `coherent` on claims that say something else than their whole sentence.

    Args:
        answer: The premise of a claim drawn from several sentences. For any other claim it is its
            sentence, of a table its row with the headings.
        claims: Of the answer.
        entailment: Reads the pairs.
        threshold: Least probability of a coherent claim.
        stop: Ends the reading.

    Returns:
        The claims, and a failure that says how many were too long, or too many, to be read.
    """
    blocks = passages(answer)
    pairs: dict[str, tuple[str, str]] = {}
    skipped = size = 0
    for claim in claims:
        premise = premise_of(answer, claim, blocks)
        if premise is None or claim.id in pairs:
            continue
        size += len(claim.text) + len(premise) + 100
        if size > MAX_CHARACTERS:
            skipped += 1
        else:
            pairs[claim.id] = (claim.text, premise)
    scores: dict[str, float] = {}
    ids = list(pairs)
    for start in range(0, len(ids), GROUP):
        if stop and stop.is_set():
            break
        group = ids[start : start + GROUP]
        for claim_id, score in zip(group, entailment([pairs[i] for i in group]), strict=True):
            if score is None:
                skipped += 1
            else:
                scores[claim_id] = score
    return [_scored(claim, scores.get(claim.id), threshold) for claim in claims], _left_out(skipped)


def _scored(claim: Claim, score: float | None, threshold: float) -> Claim:
    if score is None:
        return claim
    update = {"coherence": round(score, 4), "coherent": score >= threshold}
    return claim.model_copy(update=update)


def _left_out(count: int) -> list[Failure]:
    if not count:
        return []
    message = (
        f"{count:,} claim{'s were' if count > 1 else ' was'} not compared with the answer's own "
        f"sentence: too long, or behind the first {MAX_CHARACTERS:,} characters of such pairs. "
        "Analyse the answer in parts."
    )
    return [StageFailure("left_out", message).as_failure("coherence", "claims")]


def premise_of(answer: str, claim: Claim, blocks: Sequence[AnswerPassage]) -> str | None:
    """Return the claim's sentence without citation marks; None if the claim says the same."""
    if not claim.sentence:
        return answer
    start, end = claim.sentence
    at = bisect_right(blocks, start, key=lambda block: block.start) - 1
    if at < 0 or blocks[at].end < end:
        sentence = visible(answer, start, end)
    else:
        written = zip(blocks[at].text, blocks[at].places, strict=True)
        sentence = "".join(character for character, (a, b) in written if start <= a and b <= end)
    return None if sentence.split() == claim.text.split() else sentence
