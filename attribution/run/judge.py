"""Claims with given passages → verdicts: the decision of a run, without its search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attribution.evidence.about import is_about
from attribution.evidence.matching import explain_difference, judge_pairs
from attribution.types import Claim, Evidence, Pair, Verdict, content_id
from attribution.verdicts import Thresholds, decide, relation
from attribution.verifiers.pairs import Reads


@dataclass(frozen=True)
class GivenClaim:
    """A claim, and the passages it is held against, best first."""

    text: str
    passages: tuple[str, ...]


@dataclass(frozen=True)
class JudgedClaim:
    """The verdict, and the evidence behind it: one piece for each passage, in order."""

    verdict: Verdict
    evidence: tuple[Evidence, ...]


def judge(claims: Sequence[GivenClaim], verifier: Reads, thresholds: Thresholds) -> Iterator[JudgedClaim]:
    """One verdict a claim, in order; the pairs of all claims go to the verifier together.

    A passage that occurs twice counts once. BadInput for an empty claim or passage, and for one that is too long.
    """
    passages = [tuple(dict.fromkeys(given.passages)) for given in claims]
    pairs: list[Pair] = [(g.text, text) for g, texts in zip(claims, passages, strict=True) for text in texts]
    judged = iter(zip(pairs, judge_pairs(pairs, verifier), strict=True))
    for given, texts in zip(claims, passages, strict=True):
        claim = Claim(id=content_id(given.text), text=given.text, spans=(), worthiness="factual", independent=True)
        pieces = {}
        for text in texts:
            pair, found = next(judged)
            pieces[text] = Evidence(
                claim_id=claim.id,
                page_id=content_id(text),
                start=0,
                end=len(text),
                text=text,
                similarity=1.0,
                relation=relation(found.judgement.probabilities, thresholds),
                probabilities=found.judgement.probabilities,
                sentence=found.judgement.sentence,
                about=is_about(given.text, text),
                signals=found.judgement.signals,
                parts=found.parts,
                difference=explain_difference(pair, found),
            )
        decided = decide(claim, list(pieces.values()), thresholds)
        yield JudgedClaim(decided, tuple(pieces[text] for text in given.passages))
