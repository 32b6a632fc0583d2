"""Compare two checked answers to one question: both say it, or they contradict each other.

Two claims contradict each other if the sources decide between them, if they give one attribute
different values, or if the verifier says so in both directions.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

from attribution.embedders import EMBEDDERS, Embedder
from attribution.events import finished
from attribution.evidence import GatherStep
from attribution.pipeline.experiment import Fields
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.quantities import contrasts
from attribution.text.words import shared_words, terms
from attribution.types import (
    UNCHECKED,
    Claim,
    Evidence,
    Judgement,
    Label,
    Page,
    Pair,
    Probabilities,
    Report,
    Span,
)
from attribution.verdicts import nearest_evidence
from attribution.verifiers import VERIFIERS
from attribution.verifiers.pairs import CachedVerifier, verify_each

Agreement = Literal["contradiction", "same"]

SIMILAR = 0.45  # least cosine of two compared claims
NEAREST = 3  # most claims of the other answer to compare a claim with
ENTAILED = 0.5  # least probability that one claim entails the other
# Least share of the entailed claim's words that the other has: a similar topic is not enough.
COVERED = 0.5
CONTRADICTED = 0.7  # least probability of a contradiction, averaged over both directions
LEANING = 0.5  # the same for claims with one sentence of a source and one subject
SUBJECT = 0.6  # least share of the shorter claim's words that contradictory claims have in common
SLOT = 0.5  # the same for claims with one sentence of a source
DECIDED = {"supported", "contradicted"}
_PARTS = re.compile(r"[,;]\s|\s(?:and|but|while|whereas)\s")
_CLAUSE_ENDS = re.compile(r"[,;]\s+(?:and|but|while|whereas|which|who)\s|;\s")
NOTHING = Probabilities(entailed=0, contradicted=0, no_relation=1)


@dataclass(frozen=True)
class Match:
    """Matching claims of both answers, by id. A contradiction has one claim of each answer."""

    agreement: Agreement
    first: tuple[str, ...]
    second: tuple[str, ...]


@dataclass(frozen=True)
class _Side:
    """A claim with its verdict and the passage that decides it, or else the one to read."""

    claim: Claim
    label: str
    piece: Evidence | None

    @property
    def text(self) -> str:
        return self.claim.statement

    @property
    def sentence(self) -> str:
        """The sentence of the passage; empty without one."""
        return self.piece.deciding_sentence if self.piece else ""


def align(
    first: Report, second: Report, embedder: Embedder, verifier: CachedVerifier
) -> tuple[Match, ...]:
    """Match the claims of two answers, contradictions first, then in the order of the first answer.

    Claims that are not checked, such as opinions, are left out. A claim can be in several
    contradictions, but in only one agreement: claims that agree with the same claim are one match.
    """
    contradictions: list[Match] = []
    agreements: list[Match] = []
    pairs = _candidates(_sides(first), _sides(second), embedder)
    forwards = _judge([(other.text, one.text) for one, other in pairs], verifier)
    backwards = _judge([(one.text, other.text) for one, other in pairs], verifier)
    for (one, other), forward, backward in zip(pairs, forwards, backwards, strict=True):
        ids = ((one.claim.id,), (other.claim.id,))
        agreement = _agreement(one, other, forward, backward)
        if agreement == "contradiction":
            contradictions.append(Match(agreement, *ids))
        elif agreement == "same":
            agreements = _joined(Match(agreement, *ids), agreements)
    order = [claim.id for claim in first.claims]
    agreements.sort(key=lambda match: order.index(match.first[0]))
    return (*contradictions, *agreements)


def _agreement(
    one: _Side, other: _Side, forward: Probabilities, backward: Probabilities
) -> Agreement | None:
    """Return how two claims relate; None if they don't."""
    leaning = (forward.contradicted + backward.contradicted) / 2
    if _values_differ(one.text, other.text) or _sources_decide(one, other, leaning):
        return "contradiction"
    if _entails(one.text, other.text, forward) or _entails(other.text, one.text, backward):
        return None if contrasts(one.text, other.text) else "same"
    return "contradiction" if _deny_each_other(one, other, leaning) else None


def _sides(report: Report) -> list[_Side]:
    """Return the checked claims of an answer with what decides them."""
    labels = {verdict.claim_id: verdict.label for verdict in report.verdicts}
    sides: list[_Side] = []
    for claim in report.claims:
        if claim.checked:
            label = labels.get(claim.id, "")
            piece = nearest_evidence(report.evidence_of(claim.id), label)
            sides.append(_Side(claim, label, piece))
    return sides


def _candidates(
    first: Sequence[_Side], second: Sequence[_Side], embedder: Embedder
) -> list[tuple[_Side, _Side]]:
    """Return the pairs at least SIMILAR, each claim with the NEAREST ones, and those with one
    sentence of a source.
    """
    if not (first and second):
        return []
    vectors = embedder.embed([side.text for side in (*first, *second)])
    cosines = vectors[: len(first)] @ vectors[len(first) :].T
    ranks_of_second = (-cosines).argsort(axis=1, kind="stable").argsort(axis=1)
    ranks_of_first = (-cosines).argsort(axis=0, kind="stable").argsort(axis=0)
    is_near = (ranks_of_second < NEAREST) | (ranks_of_first < NEAREST)
    is_candidate = (cosines >= SIMILAR) & is_near
    pairs: list[tuple[_Side, _Side]] = []
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            if is_candidate[i, j] or _has_one_sentence(one, other):
                pairs.append((one, other))
    return pairs


def _judge(pairs: Sequence[Pair], verifier: CachedVerifier) -> list[Probabilities]:
    """Return the probabilities of each (claim, premise); nothing for one that is too long."""
    judged = verify_each(verifier, pairs)
    return [one.probabilities if isinstance(one, Judgement) else NOTHING for one in judged]


def _sources_decide(one: _Side, other: _Side, leaning: float) -> bool:
    """Return True if the sentence that contradicts one claim supports the other on the same point.

    A point is a value, if the wrong claim gives one differently. Otherwise the claims share their
    words or, if they share none, a part of the sentence; or the verifier leans to a contradiction.
    """
    if not _has_one_sentence(one, other) or {one.label, other.label} != DECIDED:
        return False
    wrong, right = (one, other) if one.label == "contradicted" else (other, one)
    values = contrasts(wrong.text, wrong.sentence)
    if values:
        numbers = terms(right.text).numbers
        return any(terms(c.source).numbers & numbers for c in values)
    if contrasts(wrong.text, right.text):
        return False  # the sentence has both values
    words, others = _words(one.text), _words(other.text)
    if words.isdisjoint(others):
        parts = map(_words, _PARTS.split(wrong.sentence))
        return any(words & part and others & part for part in parts)
    return _share(words, others) >= SLOT or leaning >= LEANING


def _share(words: frozenset[str], others: frozenset[str]) -> float:
    """Return the share of the shorter claim's words that both claims have."""
    fewer = min(len(words), len(others))
    return len(words & others) / fewer if fewer else 0.0


def _has_one_sentence(one: _Side, other: _Side) -> bool:
    return bool(one.sentence) and one.sentence == other.sentence


def _values_differ(one: str, other: str) -> bool:
    """Return True if two claims differ in one value, and its clauses are alike but for it.

    “12 inhabitants in 1990” and “15 inhabitants in 2010” differ in two.
    """
    found = contrasts(one, other)
    if len(found) != 1:
        return False
    (contrast,) = found
    words = _words_beside(one, contrast.claim_span)
    others = _words_beside(other, contrast.source_span)
    return bool(words and others) and (words <= others or others <= words)


def _words_beside(text: str, value: Span) -> frozenset[str]:
    """Return the words and numbers of the clause around a value."""
    start, end = value
    before = _CLAUSE_ENDS.split(text[:start])[-1]
    after = _CLAUSE_ENDS.split(text[end:])[0]
    return _words(f"{before} {after}")


def _entails(premise: str, claim: str, probabilities: Probabilities) -> bool:
    return probabilities.entailed >= ENTAILED and shared_words(claim, premise) >= COVERED


def _deny_each_other(one: _Side, other: _Side, leaning: float) -> bool:
    """Return True if the verifier says so, and two claims share most words or their sentence.

    “Finished in 1889” and “repainted in 1910” don't contradict each other.
    """
    shared = _share(_words(one.text), _words(other.text))
    has_one_sentence = _has_one_sentence(one, other)
    if has_one_sentence and shared >= SLOT:
        return leaning >= LEANING
    return leaning >= CONTRADICTED and (shared >= SUBJECT or has_one_sentence)


def _words(text: str) -> frozenset[str]:
    found = terms(text)
    return found.content | found.numbers


def _joined(match: Match, matches: Sequence[Match]) -> list[Match]:
    """Add a match to those that it shares no claim with; the others become one with it."""
    first, second = list(match.first), list(match.second)
    separate: list[Match] = []
    for other in matches:
        if set(other.first) & set(first) or set(other.second) & set(second):
            first = [*other.first, *first]
            second = [*other.second, *second]
        else:
            separate.append(other)
    joined = Match("same", _each_once(first), _each_once(second))
    return [*separate, joined]


def _each_once(ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


# --- checking both ---


Side = Literal["first", "second", "both", "neither"]
One = Literal["first", "second"]
SIDES: tuple[One, ...] = ("first", "second")


@dataclass(frozen=True)
class TwoAnswers:
    """The reports of two answers, and how their claims relate."""

    first: Report
    second: Report
    matches: tuple[Match, ...]

    @property
    def contradictions(self) -> tuple[Match, ...]:
        return tuple(m for m in self.matches if m.agreement == "contradiction")

    @property
    def agreements(self) -> tuple[Match, ...]:
        return tuple(m for m in self.matches if m.agreement != "contradiction")

    def report(self, side: One) -> Report:
        """Return the report of one answer."""
        return self.first if side == "first" else self.second

    def labels(self, side: One, match: Match) -> list[Label]:
        """Return the verdicts on the match's claims of one answer."""
        labels = {verdict.claim_id: verdict.label for verdict in self.report(side).verdicts}
        ids = match.first if side == "first" else match.second
        return [labels.get(claim_id, "not_reached") for claim_id in ids]

    def alone(self, side: One) -> tuple[Claim, ...]:
        """Return the checked claims of one answer that the other neither states nor contradicts."""
        matched = {claim_id for match in self.matches for claim_id in getattr(match, side)}
        return tuple(c for c in self.report(side).claims if c.checked and c.id not in matched)

    def supported(self, match: Match) -> Side | None:
        """Return the side that the sources support; None if a claim was not compared with them."""
        first, second = (self.labels(side, match) for side in SIDES)
        if any(label in UNCHECKED for label in (*first, *second)):
            return None
        is_first, is_second = set(first) == {"supported"}, set(second) == {"supported"}
        if is_first:
            return "both" if is_second else "first"
        return "second" if is_second else "neither"


def compare_reports(first: Report, second: Report, settings: Settings, store: Store) -> TwoAnswers:
    """Compare two answers that have been checked; their pages and verdicts stay as they are."""
    verifier = CachedVerifier(VERIFIERS.chosen(settings), store)
    embedder = EMBEDDERS.chosen(settings)
    return TwoAnswers(first, second, align(first, second, embedder, verifier))


@dataclass(frozen=True)
class _GivenPages:
    """An evidence source with the same pages for every claim."""

    pages: tuple[Page, ...]

    def gather(
        self, claims: Sequence[Claim], question: str, stop: threading.Event
    ) -> Iterator[GatherStep]:
        ids = tuple(claim.id for claim in claims)
        yield GatherStep("fetch", 1, 1, claim_ids=ids, pages=self.pages, complete=ids)


def compare_answers(
    question: str, first: str, second: str, settings: Settings, store: Store
) -> TwoAnswers:
    """Check two answers, and then both against the pages that were found for either.

    Raises:
        BadInput: An answer is empty, too long or not text.
    """
    pages: dict[str, Page] = {}
    for answer in (first, second):
        report = finished(run(question, answer, settings, store))
        pages |= {page.id: page for page in report.pages}
    source = _GivenPages(tuple(pages.values()))
    reports: list[Report] = []
    for answer in (first, second):
        reports.append(finished(run(question, answer, settings, store, source=source)))
    return compare_reports(reports[0], reports[1], settings, store)


def json_data(result: TwoAnswers) -> Fields:
    """Return JSON-serialisable data: both reports without the texts of their pages, the matches
    with the side that the sources support, and what only one answer says.
    """
    matches: list[Fields] = TypeAdapter(tuple[Match, ...]).dump_python(result.matches, mode="json")
    for match, fields in zip(result.matches, matches, strict=True):
        fields["supported"] = result.supported(match)
    data: Fields = {"matches": matches}
    for side in SIDES:
        report = result.report(side)
        data[side] = report.model_dump(mode="json", exclude={"pages": {"__all__": {"text"}}})
        data[f"only_{side}"] = [claim.id for claim in result.alone(side)]
    return data
