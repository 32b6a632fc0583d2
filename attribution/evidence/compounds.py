"""The predicates of a claim that has several: "It was dissolved in 1948 and merged with a rival"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from attribution.evidence.judging import strongest
from attribution.policy import LOWEST_THRESHOLD, DecisionPolicy
from attribution.segmenters.clauses import split
from attribution.segmenters.english.drafts import in_statements
from attribution.text.sentences import is_english, sentences
from attribution.types import Claim, Evidence
from attribution.verdicts import UNSETTLED, decide

LONGEST = 450  # characters of a claim that is cut
MOST = 4  # parts
_PRONOUNS = frozenset("it its he his him she her they their them this that these those".split())


@lru_cache(maxsize=1024)
def predicates(claim: str) -> tuple[str, ...]:
    """Return a statement for each predicate of a claim; none if it has one, or the rules are unsure
    of the cut.
    """
    if len(claim) > LONGEST or not is_english(claim) or len(sentences(claim)) > 1:
        return ()
    parts = tuple(text for text, _ in in_statements(claim, split))
    own = claim.split()[0].lower()
    refer = any((first := part.split()[0].lower()) in _PRONOUNS and first != own for part in parts)
    return parts if 1 < len(parts) <= MOST and not refer else ()


def with_predicates(
    claims: Sequence[Claim],
    evidence: Sequence[Sequence[Evidence]],
    policy: DecisionPolicy,
    read: Callable[[Sequence[tuple[int, str]]], Sequence[Sequence[Evidence]]],
) -> list[tuple[Evidence, ...]]:
    """Return the evidence for each claim, and for each predicate of one that it leaves open.

    `read` gives the evidence for such predicates, each with the index of its claim. Of these pieces
    those count that
    may decide, or else the nearest.
    """
    parts = [
        (i, part)
        for i, (claim, pieces) in enumerate(zip(claims, evidence, strict=True))
        if policy.decision != "plain" and decide(claim, pieces, policy).label in UNSETTLED
        for part in predicates(claim.statement)
    ]
    found = [tuple(pieces) for pieces in evidence]
    for (i, part), pieces in zip(parts, read(parts), strict=True):
        speaking = [e for e in pieces if strongest(e.probabilities) >= LOWEST_THRESHOLD] or pieces[
            :1
        ]
        found[i] += tuple(e.model_copy(update={"part": part}) for e in speaking)
    return found
