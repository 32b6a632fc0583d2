"""Claims with given passages → verdicts: the decision of a run, without its search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attribution.evidence.judging import as_evidence, judge_pairs, read_plainly, relevance
from attribution.models import reranker
from attribution.models.reranker import Relevance
from attribution.policy import DecisionPolicy
from attribution.types import Claim, Evidence, Pair, Verdict, content_id
from attribution.verdicts import decide
from attribution.verifiers.pairs import Reads


@dataclass(frozen=True)
class GivenClaim:
    """A claim, and the passages it is compared with, best first."""

    text: str
    passages: tuple[str, ...]
    titles: tuple[str, ...] = ()  # of the passages' pages and sections; as many as passages, or none
    headings: tuple[str, ...] = ()  # above the claim in its answer


@dataclass(frozen=True)
class JudgedClaim:
    """The verdict, and the evidence behind it: one piece for each passage, in order."""

    verdict: Verdict
    evidence: tuple[Evidence, ...]


def judge(
    claims: Sequence[GivenClaim], verifier: Reads, policy: DecisionPolicy, found: bool = True
) -> Iterator[JudgedClaim]:
    """Yield one verdict a claim, in order; the pairs of all claims go to the verifier together.

    A passage that occurs twice counts once. Relevance weighs passages that a search has `found`; the context that an
    answer was written from is relevant. Raises BadInput for an empty claim or passage, and for one that is too long.
    """
    given = [dict(zip(c.passages, c.titles or ("",) * len(c.passages), strict=True)) for c in claims]
    pairs: list[Pair] = [
        (c.text, text, title) if title else (c.text, text)
        for c, texts in zip(claims, given, strict=True)
        for text, title in texts.items()
    ]
    judged = (read_plainly if policy.decision == "plain" else judge_pairs)(pairs, verifier)
    relevances = relevance(
        pairs, judged, Relevance() if found and policy.weighed_by_relevance and reranker.installed() else None
    )
    of_pairs = iter(zip(pairs, judged, relevances, strict=True))
    for of_claim, texts in zip(claims, given, strict=True):
        claim = Claim(
            id=content_id(of_claim.text), text=of_claim.text, spans=(), worthiness="factual", independent=True
        )
        pieces = {
            text: as_evidence(claim.id, content_id(text), text, 0, 1.0, *next(of_pairs), of_claim.headings, policy)
            for text in texts
        }
        decided = decide(claim, list(pieces.values()), policy)
        yield JudgedClaim(decided, tuple(pieces[text] for text in of_claim.passages))
