"""Compare two checked answers to one question: both say it, or they contradict each other.

Two claims contradict each other if they give one attribute different values, or if the verifier
says so.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from attribution.embedders import EMBEDDERS, Embedder
from attribution.events import finished
from attribution.evidence import GatherStep
from attribution.evidence.steps import spoken
from attribution.pipeline.experiment import Fields
from attribution.pipeline.judge import read_each
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.parse import parse
from attribution.text.quantities import (
    MONTHS,
    ROUNDED,
    Quantity,
    agrees,
    contrasts,
    quantities,
)
from attribution.text.words import shared_words
from attribution.types import (
    UNCHECKED,
    Claim,
    Evidence,
    Label,
    Page,
    Probabilities,
    Report,
    Span,
)
from attribution.verdicts import DecisionPolicy
from attribution.verifiers import VERIFIERS
from attribution.verifiers.reader import CachedVerifier

Agreement = Literal["contradiction", "same"]

SIMILAR = 0.3  # least cosine of a claim and the nearest of the other answer
ENTAILED = 0.5  # least probability that one claim entails the other
# Least share of the entailed claim's words that the other has: a similar topic is not enough.
COVERED = 0.5
CONTRADICTED = 0.8  # least probability that one claim contradicts the other
FITS = 0.6  # least probability that a claim with a value of the other follows from the other
METRES = {"metr": 1.0, "kilometr": 1000.0, "km": 1000.0, "mile": 1609.3, "mil": 1609.3}  # by stem
EXCLUDES = 0.4  # least probability that it then contradicts what it was
Read = Callable[[Sequence[tuple[str, str]]], list[Probabilities]]
_CLAUSE_ENDS = re.compile(r"[,;]\s+(?:and|but|while|whereas|which|who)\s|;\s")
NOTHING = Probabilities(entailed=0, contradicted=0, no_relation=1)


@dataclass(frozen=True)
class Match:
    """Matching claims of both answers, by id. A contradiction has one claim of each answer."""

    agreement: Agreement
    first: tuple[str, ...]
    second: tuple[str, ...]


class _Statement(NamedTuple):
    """A claim as the verifier reads it."""

    id: str
    text: str


_Pair = tuple[_Statement, _Statement]


def align(
    first: Report, second: Report, embedder: Embedder, verifier: CachedVerifier
) -> tuple[Match, ...]:
    """Match the claims of two answers, contradictions first, then in the order of the first answer.

    Claims that are not checked, such as opinions, are left out. A claim can be in several
    contradictions, but in only one agreement: claims that agree with the same claim are one match.
    """
    contradictions: list[Match] = []
    agreements: list[Match] = []
    pairs = _candidates(first, second, embedder)
    read = partial(_judge, verifier=verifier, title=first.question)
    forwards = read([(other.text, one.text) for one, other in pairs])
    backwards = read([(one.text, other.text) for one, other in pairs])
    differing = _differing(pairs, read)
    readings = zip(pairs, forwards, backwards, strict=True)
    for number, ((one, other), forward, backward) in enumerate(readings):
        ids = ((one.id,), (other.id,))
        denied = max(forward.contradicted, backward.contradicted)
        if denied >= CONTRADICTED or number in differing:
            contradictions.append(Match("contradiction", *ids))
        elif _entails(one.text, other.text, forward) or _entails(other.text, one.text, backward):
            agreements = _joined(Match("same", *ids), agreements)
    order = [claim.id for claim in first.claims]
    agreements.sort(key=lambda match: order.index(match.first[0]))
    return (*contradictions, *agreements)


def _statements(report: Report) -> list[_Statement]:
    return [_Statement(claim.id, spoken(claim)) for claim in report.claims if claim.checked]


def _candidates(first: Report, second: Report, embedder: Embedder) -> list[_Pair]:
    """Return each checked claim with the nearest of the other answer, if it is similar."""
    ones, others = _statements(first), _statements(second)
    if not (ones and others):
        return []
    vectors = embedder.embed([statement.text for statement in (*ones, *others)])
    cosines = vectors[: len(ones)] @ vectors[len(ones) :].T
    of_ones, of_others = cosines.max(axis=1), cosines.max(axis=0)
    pairs: list[_Pair] = []
    for i, one in enumerate(ones):
        for j, other in enumerate(others):
            if cosines[i, j] >= max(SIMILAR, min(of_ones[i], of_others[j])):
                pairs.append((one, other))
    return pairs


def _judge(
    pairs: Sequence[tuple[str, str]], verifier: CachedVerifier, title: str
) -> list[Probabilities]:
    """Return the probabilities of each (claim, premise); nothing for one that is too long."""
    titled = [(*pair, title) if title else pair for pair in pairs]
    pieces = read_each(titled, verifier, DecisionPolicy())
    return [one.probabilities if isinstance(one, Evidence) else NOTHING for one in pieces]


class _Exchange(NamedTuple):
    """A value of each of two claims, in the place of the other."""

    pair: int  # number of the pair of claims
    clauses: tuple[str, str]  # around both values
    changed: tuple[str, str]  # the same with the other value


def _differing(pairs: Sequence[_Pair], read: Read) -> set[int]:
    """Return the numbers of the pairs that give one attribute different values.

    “Lars Eide is the head” and “Under its head Ann Holm it grew” do: “Ann Holm is the head” follows
    from the second, and contradicts the first.
    """
    exchanges: list[_Exchange] = []
    for number, (one, other) in enumerate(pairs):
        exchanges += _exchanges(number, one.text, other.text)
    questions: list[tuple[str, str]] = []
    for number, clauses, changed in exchanges:
        one, other = pairs[number]
        questions += [(changed[0], other.text), (changed[1], one.text)]
        questions += zip(clauses, changed, strict=True)
    readings = iter(read(questions))
    differing: set[int] = set()
    for exchange in exchanges:
        fits = max(next(readings).entailed, next(readings).entailed)
        excludes = max(next(readings).contradicted, next(readings).contradicted)
        if fits >= FITS and excludes >= EXCLUDES:
            differing.add(exchange.pair)
    return differing


def _exchanges(pair: int, one: str, other: str) -> Iterator[_Exchange]:
    """Yield each name and quantity of a claim exchanged for one of the other claim."""
    spans = _rival_spans(one, other)
    for name in _names(one):
        for other_name in _names(other):
            if one[slice(*name)] not in other and other[slice(*other_name)] not in one:
                spans.append((name, other_name))
    for span, other_span in spans:
        before, after = _around(one, span)
        other_before, other_after = _around(other, other_span)
        value, other_value = one[slice(*span)], other[slice(*other_span)]
        clauses = (before + value + after, other_before + other_value + other_after)
        changed = (before + other_value + after, other_before + value + other_after)
        yield _Exchange(pair, clauses, changed)


def _rival_spans(one: str, other: str) -> list[tuple[Span, Span]]:
    """Return the spans, with their units, of quantities that differ in two texts.

    12 kilometres differ from 5 miles, but not from 7.5, and not from 5 hours.
    """
    quantities_there = quantities(other)
    found: list[tuple[Span, Span]] = []
    for quantity in quantities(one):
        if not any(agrees(quantity, rival) for rival in quantities_there):
            rivals = [rival for rival in quantities_there if _differ(quantity, rival)]
            whole = quantity.whole or quantity.span
            found += [(whole, rival.whole or rival.span) for rival in rivals]
    return found


def _differ(one: Quantity, other: Quantity) -> bool:
    if one.unit == other.unit or not {one.unit, other.unit} <= METRES.keys():
        return one.unit == other.unit
    lengths = [quantity.amount * METRES[quantity.unit] for quantity in (one, other)]
    return not math.isclose(*lengths, rel_tol=ROUNDED)


def _around(text: str, span: Span) -> tuple[str, str]:
    """Return what stands before and after a value in its clause."""
    start, end = span
    return _CLAUSE_ENDS.split(text[:start])[-1], _CLAUSE_ENDS.split(text[end:])[0]


def _names(text: str) -> list[Span]:
    """Return the runs of proper nouns and capitalised words of a text, except months."""
    names: list[Span] = []
    for token in parse(text):
        is_capitalised = token.is_title and not token.is_sent_start
        if not (is_capitalised or token.pos_ == "PROPN") or token.text in MONTHS:
            continue
        end = token.idx + len(token.text)
        if names and text[names[-1][1] : token.idx] == " ":
            names[-1] = (names[-1][0], end)
        else:
            names.append((token.idx, end))
    return names


def _entails(premise: str, claim: str, probabilities: Probabilities) -> bool:
    is_stated = probabilities.entailed >= ENTAILED and shared_words(claim, premise) >= COVERED
    return is_stated and not contrasts(claim, premise)


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
