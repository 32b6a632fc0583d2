"""Match the claims of two answers: the same, one says more, or they contradict each other.

The verifier judges similar claims in both directions, each as evidence for the other. The
thresholds were chosen on labelled pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from attribution.embedders import Embedder
from attribution.text.words import shared_words, terms, uncovered
from attribution.types import Claim, Judgement, Pair, Probabilities
from attribution.verifiers.pairs import CachedVerifier, verify_each

Agreement = Literal["contradiction", "same", "first_more", "second_more", "overlap"]

SIMILAR = 0.45  # least cosine of two compared claims
NEAREST = 3  # most claims of the other answer to compare a claim with
ENTAILED = 0.5  # least probability that one claim entails the other
# Least share of the entailed claim's words that the other has: a similar topic is not enough.
COVERED = 0.5
CONTRADICTED = 0.7  # least probability of a contradiction, averaged over both directions
SUBJECT = 0.6  # least share of the shorter claim's words that contradictory claims have in common
NOTHING = Probabilities(entailed=0, contradicted=0, no_relation=1)


@dataclass(frozen=True)
class Match:
    """Matching claims of both answers, by id. A contradiction has one claim of each answer.

    Attributes:
        probability: Of the deciding entailment; of a contradiction, averaged over both directions.
        differs: Numbers and names that only the first and only the second claim has.
    """

    agreement: Agreement
    first: tuple[str, ...]
    second: tuple[str, ...]
    probability: float
    differs: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


@dataclass
class _Group:
    """Claims of both answers that are connected by agreement."""

    first: dict[str, Claim]
    second: dict[str, Claim]


@dataclass(frozen=True)
class _Entailment:
    """Whether a text entails all of some claims, with the lowest probability that it does."""

    is_entailed: bool
    probability: float


def align(
    first: Sequence[Claim], second: Sequence[Claim], embedder: Embedder, verifier: CachedVerifier
) -> tuple[Match, ...]:
    """Match the claims of two answers, contradictions first, then in the order of the first answer.

    Claims that are not checked, such as opinions, are left out. A claim can be in several
    contradictions, but in only one agreement: claims that agree with the same claim are one match.
    """
    contradictions: list[Match] = []
    groups: list[_Group] = []
    pairs = _similar_pairs(first, second, embedder)
    forwards = _judge([(other.statement, one.statement) for one, other in pairs], verifier)
    backwards = _judge([(one.statement, other.statement) for one, other in pairs], verifier)
    for (one, other), forward, backward in zip(pairs, forwards, backwards, strict=True):
        probability = (forward.contradicted + backward.contradicted) / 2
        if _entails(one.statement, other.statement, forward) or _entails(
            other.statement, one.statement, backward
        ):
            _add(one, other, groups)
        elif probability >= CONTRADICTED and _is_about_one_thing(one.statement, other.statement):
            differs = differing_words(one.statement, other.statement)
            match = Match("contradiction", (one.id,), (other.id,), probability, differs)
            contradictions.append(match)
    agreements = [_agreement(group, verifier) for group in groups]
    order = {claim.id: place for place, claim in enumerate(first)}

    def by_place(matches: Iterable[Match]) -> list[Match]:
        return sorted(matches, key=lambda match: order[match.first[0]])

    return (*by_place(contradictions), *by_place(agreements))


def _judge(pairs: Sequence[Pair], verifier: CachedVerifier) -> list[Probabilities]:
    """Return the probabilities of each (claim, premise); nothing for one that is too long."""
    judged = verify_each(verifier, pairs)
    return [one.probabilities if isinstance(one, Judgement) else NOTHING for one in judged]


def _entails(premise: str, claim: str, probabilities: Probabilities) -> bool:
    return probabilities.entailed >= ENTAILED and shared_words(claim, premise) >= COVERED


def _is_about_one_thing(one: str, other: str) -> bool:
    """Return True if two claims share most words.

    “Finished in 1889” and “repainted in 1910” don't contradict each other.
    """
    words, others = _words(one), _words(other)
    fewer = min(len(words), len(others))
    return bool(fewer) and len(words & others) / fewer >= SUBJECT


def _words(text: str) -> frozenset[str]:
    found = terms(text)
    return found.content | found.numbers


def differing_words(one: str, other: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the numbers and names that each text has and the other lacks."""
    return _names(uncovered(one, other)), _names(uncovered(other, one))


def _names(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word[:1].isupper() or any(map(str.isdigit, word)))


def _similar_pairs(
    first: Sequence[Claim], second: Sequence[Claim], embedder: Embedder
) -> list[tuple[Claim, Claim]]:
    """Return the pairs of checked claims at least SIMILAR, each claim with the NEAREST ones."""
    first = [claim for claim in first if claim.checked]
    second = [claim for claim in second if claim.checked]
    if not (first and second):
        return []
    vectors = embedder.embed([claim.statement for claim in (*first, *second)])
    cosines = vectors[: len(first)] @ vectors[len(first) :].T
    ranks_of_second = (-cosines).argsort(axis=1, kind="stable").argsort(axis=1)
    ranks_of_first = (-cosines).argsort(axis=0, kind="stable").argsort(axis=0)
    is_near = (ranks_of_second < NEAREST) | (ranks_of_first < NEAREST)
    places = zip(*((cosines >= SIMILAR) & is_near).nonzero(), strict=True)
    return [(first[i], second[j]) for i, j in places]


def _add(one: Claim, other: Claim, groups: list[_Group]) -> None:
    """Add a pair that agrees to its group, and join the groups that it connects."""
    joined = _Group({}, {})
    for group in [g for g in groups if one.id in g.first or other.id in g.second]:
        groups.remove(group)
        joined.first |= group.first
        joined.second |= group.second
    joined.first[one.id] = one
    joined.second[other.id] = other
    groups.append(joined)


def _agreement(group: _Group, verifier: CachedVerifier) -> Match:
    """Match two groups of claims: does each side, read as one text, entail all of the other?"""
    first, second = list(group.first.values()), list(group.second.values())
    forward = _entails_all(first, second, verifier)
    backward = _entails_all(second, first, verifier)
    probability = max(forward.probability, backward.probability)
    kind: Agreement = "overlap"
    if forward.is_entailed and backward.is_entailed:
        kind = "same"
        probability = min(forward.probability, backward.probability)
    elif forward.is_entailed:
        kind = "first_more"
    elif backward.is_entailed:
        kind = "second_more"
    return Match(kind, tuple(group.first), tuple(group.second), probability)


def _entails_all(
    premises: Sequence[Claim], claims: Sequence[Claim], verifier: CachedVerifier
) -> _Entailment:
    text = premises[0].statement
    if len(premises) > 1:  # one sentence, since a verifier may read sentences one by one
        text = "; ".join(claim.statement.rstrip(" .") for claim in premises)
    statements = [claim.statement for claim in claims]
    judged = _judge([(statement, text) for statement in statements], verifier)
    is_entailed = all(
        _entails(text, statement, probabilities)
        for statement, probabilities in zip(statements, judged, strict=True)
    )
    return _Entailment(is_entailed, min(one.entailed for one in judged))
