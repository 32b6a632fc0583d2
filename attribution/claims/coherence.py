"""Drop subclaims that their own sentence does not entail (W24 8.2)."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from attribution.errors import StageFailure
from attribution.text.passages import AnswerPassage, passages, visible
from attribution.types import Claim, Failure

Pairs = Sequence[tuple[str, str]]
Entailment = Callable[
    [Pairs], Sequence[float | None]
]  # (claim, premise) pairs → p(entailed); None: too long to read
MAX_CHARACTERS = 300_000  # of the pairs of an answer, a hundred more counted for each
GROUP = 20  # pairs between two looks at the stop signal


def check_coherence(
    answer: str,
    claims: Sequence[Claim],
    entailment: Entailment,
    threshold: float,
    stop: threading.Event | None = None,
) -> tuple[list[Claim], list[Failure]]:
    """Claims with `coherence` and `coherent` set, except those that repeat their sentence word for
    word.

    The premise is the claim's sentence, of a table its row with the headings; for a claim drawn
    from several sentences
    it is the whole answer. A failure says how many claims were too long, or too many, to be read.
    """
    blocks = passages(answer)
    pairs = {
        c.id: (c.text, premise)
        for c in claims
        if (premise := _premise(answer, c, blocks)) is not None
    }
    sizes = accumulate(len(claim) + len(premise) + 100 for claim, premise in pairs.values())
    read = [claim_id for claim_id, size in zip(pairs, sizes, strict=True) if size <= MAX_CHARACTERS]
    found: dict[str, float | None] = {}
    for start in range(0, len(read), GROUP):
        if stop and stop.is_set():
            break
        group = read[start : start + GROUP]
        found |= zip(group, entailment([pairs[claim_id] for claim_id in group]), strict=True)
    scores = {claim_id: score for claim_id, score in found.items() if score is not None}
    checked = [
        c.model_copy(
            update={"coherence": round(scores[c.id], 4), "coherent": scores[c.id] >= threshold}
        )
        if c.id in scores
        else c
        for c in claims
    ]
    return checked, _left_out(len(pairs) - len(read) + len(found) - len(scores))


def _left_out(count: int) -> list[Failure]:
    if not count:
        return []
    message = (
        f"{count:,} claim{'s were' if count > 1 else ' was'} not compared with the answer's own sentence: too long, or "
        f"behind the first {MAX_CHARACTERS:,} characters of such pairs. Analyse the answer in parts."
    )
    return [StageFailure("left_out", message).as_failure("coherence", "claims")]


def _premise(answer: str, claim: Claim, blocks: Sequence[AnswerPassage]) -> str | None:
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
