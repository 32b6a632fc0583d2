"""Contradictions that show only beside a variant: a passage entails the claim with its own value, and not the claim.

Asked once whether "within 72 hours" contradicts "within 30 days", a model often is not sure. It is surer that the
passage entails the claim with 72 hours in it, and so people check: they find the place, and read the value there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from attribution.contrast.variants import variants
from attribution.errors import BadInput
from attribution.text.lexical import share_terms, shared_words
from attribution.text.sentences import sentences
from attribution.types import Judgement, Pair, Probabilities, Span
from attribution.verdicts import LOWEST_THRESHOLD

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


def contrast(claims: Sequence[Sequence[Read]], verifier: Reads) -> list[list[Judgement]]:
    """The judgements of each claim's pairs, those of passages that contradict it by a variant put right.

    Only verifiers that also read sentence by sentence give the signal that starts it. The probability of a
    contradiction is then that of the variant, or the variant's share of both, whichever is less.
    """
    settled = [[judgement for _, judgement in of_claim] for of_claim in claims]
    asked = [
        (n, i, suspected, span, texts)
        for n, of_claim in enumerate(claims)
        for i, suspected in _doubtful([judgement for _, judgement in of_claim])
        for span in _nearest(*of_claim[i][0][:2])
        if (texts := variants(of_claim[i][0][0], of_claim[i][0][1][slice(*span)]))
    ]
    if not asked:
        return settled
    read = [_pair(claims[n][i][0], span, text) for n, i, _, span, texts in asked for text in ("", *texts)]
    try:
        answers = iter(verifier.verify(read))
    except BadInput:  # a variant that is too long for the verifier
        return settled
    for n, i, suspected, span, texts in asked:
        own, *others = [next(answers) for _ in range(len(texts) + 1)]
        claimed, best = own.probabilities.entailed, max(j.probabilities.entailed for j in others)
        suspected = suspected and own.signals.get("sentence_contradicted", 0.0) >= SUSPECTED
        if best >= max(ENTAILED if suspected else SURE, claimed + AHEAD):
            settled[n][i] = _contradicting(settled[n][i], span, min(best, best / (best + claimed)), best)
    return settled


def _doubtful(judgements: Sequence[Judgement]) -> Iterator[tuple[int, bool]]:
    """The passages of a claim whose variants are read, and whether they are suspected to contradict it.

    Those that seem to support it, and where none does, those with a sentence that by itself seems to contradict it.
    """
    supported = any(j.probabilities.entailed >= SUPPORTED for j in judgements)
    for i, judgement in enumerate(judgements):
        against = judgement.signals.get("sentence_contradicted")
        if against is None:
            continue
        suspected = not supported and against >= SUSPECTED
        if suspected or LOWEST_THRESHOLD <= judgement.probabilities.entailed < UNSHAKEN:
            yield i, suspected


def _contradicting(judgement: Judgement, sentence: Span, contradicted: float, variant: float) -> Judgement:
    """As sure of the contradiction as that, if it was not surer before."""
    if contradicted <= judgement.probabilities.contradicted:
        return judgement
    entailed = min(judgement.probabilities.entailed, 1 - contradicted)
    none = max(0.0, 1 - entailed - contradicted)
    probabilities = Probabilities(entailed=entailed, contradicted=contradicted, no_relation=none)
    return Judgement(probabilities, sentence, judgement.signals | {"variant": round(variant, 4)})


def _nearest(claim: str, passage: str) -> list[Span]:
    near = [span for span in sentences(passage) if share_terms(claim, passage[slice(*span)])]
    return sorted(near, key=lambda span: -shared_words(claim, passage[slice(*span)]))[:SENTENCES]


def _pair(pair: Pair, span: Span, variant: str) -> Pair:
    """The claim, or a variant of it, against one sentence."""
    title = pair[2] if len(pair) == 3 else ""
    return variant or pair[0], pair[1][slice(*span)], title
