"""Match the claims of two answers: the same, one says more, or they contradict each other.

The verifier judges similar claims in both directions, each as evidence for the other. The
thresholds were chosen on
labelled pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from attribution.embedders import Embedder
from attribution.text.differences import contrasts, differing_spans
from attribution.text.names import names
from attribution.text.parse import parse, root
from attribution.text.value_reading import values
from attribution.text.values import compare
from attribution.text.words import folded, shared_words, stem, terms, uncovered
from attribution.types import Claim, Judgement
from attribution.verifiers.pairs import CachedVerifier, verify_each

Agreement = Literal["contradiction", "same", "first_more", "second_more", "overlap"]

SIMILAR = 0.45  # least cosine of two compared claims
NEAREST = 3  # most claims of the other answer to compare a claim with
ENTAILED = 0.5  # least probability that one claim entails the other
# least share of the entailed claim's words that the other has: a similar topic is not enough
COVERED = 0.5
CONTRADICTED = 0.5  # least probability of a contradiction, averaged over both directions
_NAMING = {"NOUN", "PROPN", "ADJ", "NUM"}
SUBJECT = 0.6  # least share of common words, without those that differ, of contradictory claims


@dataclass(frozen=True)
class Match:
    """Matching claims of both answers, by id. A contradiction has one claim of each answer."""

    agreement: Agreement
    first: tuple[str, ...]
    second: tuple[str, ...]
    probability: (
        float  # of the deciding entailment; of a contradiction, averaged over both directions
    )
    differs: tuple[tuple[str, ...], tuple[str, ...]] = (
        (),
        (),
    )  # numbers and names that only one of the two has


def align(
    first: Sequence[Claim], second: Sequence[Claim], embedder: Embedder, verifier: CachedVerifier
) -> tuple[Match, ...]:
    """Match the claims of two answers, contradictions first, then in the order of the first answer.

    Claims that are not checked, such as opinions, are left out. A claim can be in several
    contradictions, but in only
    one agreement: claims that agree with the same claim are one match.
    """
    pairs = _near(first, second, embedder)
    judged = _judge(
        [p for a, b in pairs for p in ((b.statement, a.statement), (a.statement, b.statement))],
        verifier,
    )
    contradictions, agreeing = list[Match](), list[tuple[Claim, Claim]]()
    for (a, b), forward, backward in zip(pairs, judged[::2], judged[1::2], strict=True):
        if forward is None or backward is None:
            continue
        if _entails(a.statement, b.statement, forward) or _entails(
            b.statement, a.statement, backward
        ):
            agreeing.append((a, b))
            continue
        probability = (forward.probabilities.contradicted + backward.probabilities.contradicted) / 2
        if probability >= CONTRADICTED and disagree(a.statement, b.statement):
            differs = differing_words(a.statement, b.statement)
            contradictions.append(Match("contradiction", (a.id,), (b.id,), probability, differs))
    groups = [_agreement(*group, verifier) for group in _groups(agreeing)]
    order = {claim.id: place for place, claim in enumerate(first)}
    found = sorted([*contradictions, *groups], key=lambda m: order[m.first[0]])
    return tuple(sorted(found, key=lambda m: m.agreement != "contradiction"))


def _entails(premise: str, claim: str, judgement: Judgement) -> bool:
    return judgement.probabilities.entailed >= ENTAILED and shared_words(claim, premise) >= COVERED


def differing_words(one: str, other: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the numbers and names that each text has and the other lacks; empty if only other
    words differ.
    """
    own, theirs = differing_spans(one, other)
    return tuple(one[a:b] for a, b in own), tuple(other[a:b] for a, b in theirs)


def disagree(one: str, other: str) -> bool:
    """Return True if two claims say the same of one subject but for one value that cannot be both.

    A second value that differs explains the first: "120,000 in 1990" and "150,000 in 2010". Of
    words that are no
    values, one may differ: "flows north" and "flows south".
    """
    if common_words(one, other) < SUBJECT or not _same_frame(one, other):
        return False
    slots = {contrast.kind for contrast in contrasts(one, other)}
    mine, its = values(one), values(other)
    apart = [pair for pair in product(mine, its) if compare(*pair) == "different"]
    written = [text[slice(*value.span)] for text, of in ((one, mine), (other, its)) for value in of]
    written += [text[slice(*name.span)] for text in (one, other) for name in names(text)]
    valued = {folded(word) for words in written for word in words.split()}
    own, theirs = (
        {folded(word) for word in uncovered(a, b)} for a, b in ((one, other), (other, one))
    )
    if slots or apart:
        return max(len(slots), len(apart)) == 1 and not (own - valued and theirs - valued)
    return len(own) == len(theirs) == 1 and valued.isdisjoint(own | theirs)


def _same_frame(one: str, other: str) -> bool:
    """Return True if two claims have the same verb, and subjects of the same words but for
    pronouns.
    """
    frames = []
    for text in (one, other):
        verb = root(parse(text))
        subject = next((t for t in verb.children if t.dep_ in ("nsubj", "nsubjpass")), None)
        held = [value.span for value in values(text) if value.kind != "rank"]
        named = (t for t in (subject.subtree if subject is not None else ()) if t.pos_ in _NAMING)
        words = {
            stem(folded(t.text))
            for t in named
            if not any(start <= t.idx < end for start, end in held)
        }
        frames.append((stem(folded(verb.lemma_ or verb.text)), words))
    (said, mine), (its_verb, its) = frames
    return said == its_verb and (mine <= its or its <= mine)


def common_words(one: str, other: str) -> float:
    """Return the share of the shorter claim's content words that both have, without the words that
    differ.

    Two claims about one thing contradict each other only if they differ in a detail: “finished in
    1889” and “repainted
    in 1910” do not.
    """
    own, its = differing_spans(one, other)
    (mine, _, _), (theirs, _, _) = terms(_without(one, own)), terms(_without(other, its))
    fewer = min(len(mine), len(theirs))
    return len(mine & theirs) / fewer if fewer else 0.0


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in reversed(spans):
        text = f"{text[:start]} {text[end:]}"
    return text


def _near(
    first: Sequence[Claim], second: Sequence[Claim], embedder: Embedder
) -> list[tuple[Claim, Claim]]:
    """Return the pairs of checked claims at least SIMILAR, each claim with the NEAREST of the other
    answer.
    """
    first, second = [c for c in first if c.checked], [c for c in second if c.checked]
    if not (first and second):
        return []
    vectors = embedder.embed([c.statement for c in (*first, *second)])
    similarity = vectors[: len(first)] @ vectors[len(first) :].T
    wanted = {
        (i, int(j))
        for i, row in enumerate(similarity)
        for j in (-row).argsort(kind="stable")[:NEAREST]
    }
    wanted |= {
        (int(i), j)
        for j, row in enumerate(similarity.T)
        for i in (-row).argsort(kind="stable")[:NEAREST]
    }
    return [(first[i], second[j]) for i, j in sorted(wanted) if similarity[i, j] >= SIMILAR]


def _judge(pairs: Sequence[tuple[str, str]], verifier: CachedVerifier) -> list[Judgement | None]:
    """Return a judgement for each (claim, evidence); None for one that is too long for the
    verifier.
    """
    return [
        found if isinstance(found, Judgement) else None for found in verify_each(verifier, pairs)
    ]


def _groups(pairs: Iterable[tuple[Claim, Claim]]) -> Iterator[tuple[list[Claim], list[Claim]]]:
    """Group the claims of both answers that are connected by agreement, in order."""
    groups: list[tuple[dict[str, Claim], dict[str, Claim]]] = []
    for a, b in pairs:
        joined: tuple[dict[str, Claim], dict[str, Claim]] = ({}, {})
        for group in [g for g in groups if a.id in g[0] or b.id in g[1]]:
            groups.remove(group)
            joined = (joined[0] | group[0], joined[1] | group[1])
        groups.append((joined[0] | {a.id: a}, joined[1] | {b.id: b}))
    for ours, theirs in groups:
        yield list(ours.values()), list(theirs.values())


def _agreement(first: Sequence[Claim], second: Sequence[Claim], verifier: CachedVerifier) -> Match:
    """Match two groups of claims: does each side, read as one text, entail all of the other?"""
    said_by_first, sure_first = _says(_together(first), second, verifier)
    said_by_second, sure_second = _says(_together(second), first, verifier)
    kinds: dict[tuple[bool, bool], Agreement] = {
        (True, True): "same",
        (True, False): "first_more",
        (False, True): "second_more",
        (False, False): "overlap",
    }
    kind = kinds[said_by_first, said_by_second]
    probability = min(sure_first, sure_second) if kind == "same" else max(sure_first, sure_second)
    return Match(kind, tuple(c.id for c in first), tuple(c.id for c in second), probability)


def _says(text: str, claims: Sequence[Claim], verifier: CachedVerifier) -> tuple[bool, float]:
    """Return True if a text entails all of these claims, with the lowest probability of entailment."""
    judged = _judge([(c.statement, text) for c in claims], verifier)
    entailed = all(
        j is not None and _entails(text, c.statement, j)
        for c, j in zip(claims, judged, strict=True)
    )
    return entailed, min(j.probabilities.entailed if j else 0.0 for j in judged)


def _together(claims: Sequence[Claim]) -> str:
    """Join claims in a single sentence, because a verifier may read sentences one by one."""
    return "; ".join(c.statement.rstrip(" .") if len(claims) > 1 else c.statement for c in claims)
