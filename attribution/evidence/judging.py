"""(claim, passage) pairs → judgements: a claim of several sentences is judged sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from attribution.contrast.contrast import contrast
from attribution.text.differences import difference
from attribution.text.sentences import sentences
from attribution.types import Judgement, Pair, Part
from attribution.verdicts import LOWEST_THRESHOLD
from attribution.verifiers.pairs import Reads

MIN_WORDS = 4  # of a part: fewer are hardly a statement, and more likely an abbreviation that was taken for an end


class Judged(NamedTuple):
    """A pair as it was judged; `parts` are the sentences of a claim that has several."""

    judgement: Judgement
    parts: tuple[Part, ...] = ()


@lru_cache(maxsize=1024)
def parts_of(claim: str) -> tuple[str, ...]:
    """The sentences of a claim that states several things; the claim itself where it is one."""
    parts = tuple(claim[slice(*span)] for span in sentences(claim))
    return parts if len(parts) > 1 and all(len(part.split()) >= MIN_WORDS for part in parts) else (claim,)


def judge_pairs(pairs: Sequence[Pair], verifier: Reads, variants: Reads | None = None) -> list[Judged]:
    """One judgement for each pair, in order; `variants` reads the variants of claims that are in doubt.

    BadInput for pairs that the verifier refuses.
    """
    read: list[Pair] = [(part, *pair[1:]) for pair in pairs for part in parts_of(pair[0])]
    by_statement: dict[str, list[int]] = {}
    for place, pair in enumerate(read):
        by_statement.setdefault(pair[0], []).append(place)
    found = verifier.verify(read)
    groups = list(by_statement.values())
    settled = contrast([[(read[i], found[i]) for i in places] for places in groups], variants or verifier)
    for places, of_statement in zip(groups, settled, strict=True):
        for i, judgement in zip(places, of_statement, strict=True):
            found[i] = judgement
    in_order = iter(found)
    return [_joined(pair, [next(in_order) for _ in parts_of(pair[0])]) for pair in pairs]


def _joined(pair: Pair, judgements: Sequence[Judgement]) -> Judged:
    """The judgement of a claim's parts by one passage: that of the part it contradicts, else of the surest one."""
    if len(judgements) == 1:
        return Judged(judgements[0])
    against = max(judgements, key=lambda j: j.probabilities.contradicted)
    if against.probabilities.contradicted < LOWEST_THRESHOLD:
        against = max(judgements, key=lambda j: j.probabilities.entailed)
    statements = parts_of(pair[0])
    parts = (Part(statement=s, probabilities=j.probabilities) for s, j in zip(statements, judgements, strict=True))
    return Judged(against, tuple(parts))


def explain_difference(pair: Pair, judged: Judged) -> str:
    """The values of the claim and of the deciding sentence that fill the same slot and differ, in words."""
    found = judged.judgement
    return found.difference or difference(pair[0], pair[1][slice(*found.sentence)], found.probabilities)
