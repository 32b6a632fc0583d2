"""Find contradictions that a model alone misses: by a claim's variants.

A passage that entails the claim with the passage's own value in it, but not the claim itself,
contradicts the claim.
Asked whether "within 72 hours" contradicts "within 30 days", a model is often unsure. It is surer
that the passage
entails the claim with 72 hours in it. People check the same way: they find the place, and read the
value there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from attribution.policy import LOWEST_THRESHOLD
from attribution.text.sentences import sentences
from attribution.text.words import share_terms, shared_words
from attribution.types import Judgement, Pair, Probabilities, Span
from attribution.verifiers.pairs import Reads, Refusal, verify_each
from attribution.verifiers.variants import Variant, variants

# support by any passage from which on apparent contradictions by others are left as they are
SUPPORTED = 0.4
SUSPECTED = 0.5  # contradiction by a sentence alone from which on variants are read
ENTAILED = 0.5  # the least entailment of a variant
AHEAD = 0.3  # and its least lead over the claim
SURE = 0.9  # the least entailment of a variant if the passage seems to support the claim
NOTICED = 0.1  # and the least contradiction of the claim by the sentence
SURELY_SUPPORTED = 0.8  # support from which on no variant can have that lead
SENTENCES = 2  # of a passage, those that share most words with the claim

Read = tuple[Pair, Judgement]


@dataclass(frozen=True)
class _Doubt:
    """A sentence to be read with variants of a claim."""

    claim: int  # its index, and below that of the passage among those of the claim
    passage: int
    pair: Pair
    sentence: Span
    suspected: bool  # does the passage seem to contradict the claim?
    supported: bool  # or to support it?
    variants: list[Variant]

    def read(self, claim: str) -> Pair:
        """Return the pair without the title of the page, which would cost a second reading."""
        return claim, self.pair[1][slice(*self.sentence)]

    def titled(self, claim: str) -> Pair:
        return (*self.read(claim), "".join(self.pair[2:]))

    def needed(self, own: Judgement | Refusal) -> float:
        """Return the least entailment of a variant, given the judgement of the claim; infinite if
        none counts.
        """
        if not isinstance(own, Judgement):
            return inf
        against = own.probabilities.contradicted if own.against is None else own.against
        if self.suspected and against >= SUSPECTED:
            least = ENTAILED
        elif self.supported and against >= NOTICED:
            least = SURE
        else:
            return inf
        return max(least, own.probabilities.entailed + AHEAD)

    def settle(self, before: Judgement, claimed: float, best: float, difference: str) -> Judgement:
        """Return the passage's judgement, given how much its sentence entails the claim and a
        variant.
        """
        contradicted = min(best, best / (best + claimed))
        if contradicted <= before.probabilities.contradicted:
            return before
        entailed = min(before.probabilities.entailed, 1 - contradicted)
        none = max(0.0, 1 - entailed - contradicted)
        return Judgement(
            Probabilities(entailed=entailed, contradicted=contradicted, no_relation=none),
            self.sentence,
            before.signals | {"variant": round(best, 4)},
            before.against,
            difference,
        )


def contrast(claims: Sequence[Sequence[Read]], verifier: Reads) -> list[list[Judgement]]:
    """Return the judgements of each claim's pairs, corrected for passages that contradict the claim
    by a variant.

    Variants are read if a verifier that also reads sentence by sentence finds one `against` the
    claim. The probability
    of a contradiction is then that of the variant, or the variant's share of both, whichever is
    less.
    """
    settled = [[judgement for _, judgement in of_claim] for of_claim in claims]
    doubts = [doubt for n, of_claim in enumerate(claims) for doubt in _doubts(n, of_claim)]
    own = verify_each(verifier, [doubt.read(doubt.pair[0]) for doubt in doubts])
    needed = [doubt.needed(judged) for doubt, judged in zip(doubts, own, strict=True)]
    open_ = [found for found in zip(doubts, own, needed, strict=True) if found[2] <= 1]
    answers = iter(
        verify_each(verifier, [doubt.read(v.text) for doubt, *_ in open_ for v in doubt.variants])
    )
    likely = []
    for doubt, judged, least in open_:
        entailed, variant = max(
            ((_entailed(next(answers)), v) for v in doubt.variants), key=lambda read: read[0]
        )
        if entailed >= least:
            likely.append((doubt, _entailed(judged), least, variant))
    sure = verify_each(verifier, [doubt.titled(variant.text) for doubt, *_, variant in likely])
    for (doubt, claimed, least, variant), judged in zip(likely, sure, strict=True):
        if (best := _entailed(judged)) >= least:
            of_claim = settled[doubt.claim]
            of_claim[doubt.passage] = doubt.settle(
                of_claim[doubt.passage], claimed, best, variant.difference
            )
    return settled


def _entailed(judged: Judgement | Refusal) -> float:
    """Return the probability of entailment; 0 if the verifier refused the pair."""
    return judged.probabilities.entailed if isinstance(judged, Judgement) else 0.0


def _doubts(claim: int, reads: Sequence[Read]) -> Iterator[_Doubt]:
    """Yield the sentences to read in passages that seem to support the claim.

    If no passage supports it, also those in passages with a sentence that seems to contradict it by
    itself.
    """
    supported = any(j.probabilities.entailed >= SUPPORTED for _, j in reads)
    for i, (pair, judgement) in enumerate(reads):
        if judgement.against is None:
            continue
        suspected = not supported and judgement.against >= SUSPECTED
        seems_supported = LOWEST_THRESHOLD <= judgement.probabilities.entailed < SURELY_SUPPORTED
        if suspected or seems_supported:
            for span in _nearest(*pair[:2]):
                if found := variants(pair[0], pair[1][slice(*span)]):
                    yield _Doubt(claim, i, pair, span, suspected, seems_supported, found)


def _nearest(claim: str, passage: str) -> list[Span]:
    near = [span for span in sentences(passage) if share_terms(claim, passage[slice(*span)])]
    return sorted(near, key=lambda span: -shared_words(claim, passage[slice(*span)]))[:SENTENCES]
