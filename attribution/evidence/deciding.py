"""Order a claim's passages: the one that decides, and the one to read."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.types import Evidence
from attribution.verdicts import leaning


def deciding_first(piece: Evidence) -> tuple[bool, float]:
    """Return the place of a claim's passage among the others: those that decide first, the most
    probable first.
    """
    neutral = piece.relation == "no_relation"
    p = piece.probabilities
    return neutral, -(piece.similarity if neutral else max(p.entailed, p.contradicted))


def deciding_evidence(evidence: Sequence[Evidence]) -> Evidence | None:
    """Return the most probable passage that supports or contradicts, if there is one."""
    decisive = [piece for piece in evidence if piece.relation != "no_relation"]
    return min(decisive, key=deciding_first, default=None)


def nearest_evidence(evidence: Sequence[Evidence], label: str) -> Evidence | None:
    """Return the passage that decides or, for an unclear claim, the one to read first."""
    if label == "contradicted":  # another part may be supported
        evidence = [piece for piece in evidence if piece.relation == "contradicted"]
    if label != "unclear":
        return deciding_evidence(evidence)

    def worth(piece: Evidence) -> tuple[bool, bool]:
        return leaning(piece.probabilities) != "no_relation", piece.about

    return max(sorted(evidence, key=deciding_first), key=worth, default=None)
