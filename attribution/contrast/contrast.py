"""Contradictions that show only beside a variant: a passage entails the claim with its own value, and not the claim.

Asked once whether "within 72 hours" contradicts "within 30 days", a model often is not sure. It is surer that the
passage entails the claim with 72 hours in it, and so people check: they find the place, and read the value there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from attribution.contrast.variants import Variant, variants
from attribution.errors import BadInput
from attribution.text.lexical import share_terms, shared_words
from attribution.text.sentences import sentences
from attribution.types import Judgement, Pair, Probabilities, Span
from attribution.verdicts import LOWEST_THRESHOLD

SIGNAL = "sentence_contradicted"  # the surest sentence's contradiction, of a verifier that reads sentence by sentence
SUPPORTED = 0.4  # by any passage: what contradicts the claim besides is then left as it is
SUSPECTED = 0.5  # the contradiction by a sentence alone from which on variants are read
ENTAILED = 0.5  # how much a variant must be entailed at least
AHEAD = 0.3  # and how much more than the claim
SURE = 0.9  # how much, where the passage seems to support the claim
UNSHAKEN = 0.8  # support from which on no variant can be so far ahead
SENTENCES = 2  # of a passage, those that share most words with the claim

Read = tuple[Pair, Judgement]


class Reads(Protocol):
    """What it asks of a verifier."""

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]: ...


@dataclass(frozen=True)
class _Doubt:
    """A sentence that is read with variants of a claim."""

    claim: int  # its place, and that of the passage among those of the claim
    passage: int
    pair: Pair
    sentence: Span
    suspected: bool  # does the passage seem to contradict the claim?
    variants: list[Variant]

    def pairs(self) -> list[Pair]:
        """The claim, then its variants, against the sentence."""
        claim, text, *title = self.pair
        return [(c, text[slice(*self.sentence)], "".join(title)) for c in (claim, *(v.text for v in self.variants))]

    def settle(self, before: Judgement, own: Judgement, others: Sequence[Judgement]) -> Judgement:
        """The passage's judgement, given those of the sentence on the claim and on its variants."""
        claimed, suspected = own.probabilities.entailed, self.suspected and _against(own) >= SUSPECTED
        best, variant = max(
            ((j.probabilities.entailed, v) for j, v in zip(others, self.variants, strict=True)), key=lambda f: f[0]
        )
        if best < max(ENTAILED if suspected else SURE, claimed + AHEAD):
            return before
        contradicted = min(best, best / (best + claimed))
        if contradicted <= before.probabilities.contradicted:
            return before
        entailed = min(before.probabilities.entailed, 1 - contradicted)
        none = max(0.0, 1 - entailed - contradicted)
        return Judgement(
            Probabilities(entailed=entailed, contradicted=contradicted, no_relation=none),
            self.sentence,
            before.signals | {"variant": round(best, 4)},
            variant.difference,
        )


def contrast(claims: Sequence[Sequence[Read]], verifier: Reads) -> list[list[Judgement]]:
    """The judgements of each claim's pairs, those of passages that contradict it by a variant put right.

    Only verifiers that also read sentence by sentence give the signal that starts it. The probability of a
    contradiction is then that of the variant, or the variant's share of both, whichever is less.
    """
    settled = [[judgement for _, judgement in of_claim] for of_claim in claims]
    doubts = [doubt for n, of_claim in enumerate(claims) for doubt in _doubts(n, of_claim)]
    if not doubts:
        return settled
    try:
        answers = iter(verifier.verify([pair for doubt in doubts for pair in doubt.pairs()]))
    except BadInput:  # a variant that is too long for the verifier
        return settled
    for doubt in doubts:
        of_claim = settled[doubt.claim]
        own, *others = [next(answers) for _ in doubt.pairs()]
        of_claim[doubt.passage] = doubt.settle(of_claim[doubt.passage], own, others)
    return settled


def _doubts(claim: int, reads: Sequence[Read]) -> Iterator[_Doubt]:
    """In passages that seem to support the claim, and where none does, in those with a sentence that seems to
    contradict it by itself."""
    supported = any(j.probabilities.entailed >= SUPPORTED for _, j in reads)
    for i, (pair, judgement) in enumerate(reads):
        suspected = not supported and _against(judgement) >= SUSPECTED
        seems_supported = LOWEST_THRESHOLD <= judgement.probabilities.entailed < UNSHAKEN
        if SIGNAL in judgement.signals and (suspected or seems_supported):
            for span in _nearest(*pair[:2]):
                if found := variants(pair[0], pair[1][slice(*span)]):
                    yield _Doubt(claim, i, pair, span, suspected, found)


def _against(judgement: Judgement) -> float:
    return judgement.signals.get(SIGNAL, 0.0)


def _nearest(claim: str, passage: str) -> list[Span]:
    near = [span for span in sentences(passage) if share_terms(claim, passage[slice(*span)])]
    return sorted(near, key=lambda span: -shared_words(claim, passage[slice(*span)]))[:SENTENCES]
