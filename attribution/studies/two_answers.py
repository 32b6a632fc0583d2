"""Compare two checked answers to one question: they say the same, contradict each other or differ.

Two claims contradict each other if they give one attribute values that exclude each other, or if
the verifier says so. They differ if they give it other values, such as two causes of a fire.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal, NamedTuple

from attribution.embedders import EMBEDDERS, Embedder
from attribution.events import finished
from attribution.evidence import GatherStep
from attribution.evidence.steps import spoken
from attribution.pipeline.experiment import Fields
from attribution.pipeline.judge import read_each
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.parse import NOMINAL_SUBJECTS, parse
from attribution.text.quantities import (
    MONTHS,
    agrees,
    contrasts,
    quantities,
)
from attribution.text.words import shared_words
from attribution.types import (
    UNCHECKED,
    Claim,
    Evidence,
    Page,
    Probabilities,
    Report,
    Span,
)
from attribution.verdicts import DecisionPolicy
from attribution.verifiers import VERIFIERS
from attribution.verifiers.reader import CachedVerifier

Agreement = Literal["contradiction", "differs", "same"]

SIMILAR = 0.25  # least cosine of two claims that are compared
ENTAILED = 0.5  # least probability that one claim entails the other
# Least share of the entailed claim's words that the other has: a similar topic is not enough.
COVERED = 0.5
CONTRADICTED = 0.8  # least probability that one claim contradicts the other
FITS = 0.6  # least probability that a claim with a value of the other follows from the other
EXCLUDES = 0.4  # least probability that it then contradicts what it was
EACH_FITS = 0.4  # least probability that each of two claims with a cause of the other follows
# A word of one of two claims that give causes, and what a cause follows
CAUSAL = re.compile(
    r"""\b(?: because | due[ ]to | owing[ ]to | after | caus | reason | result | consequence | blame
    | led[ ]to | trigger | provok | source | origin | trace )""",
    re.VERBOSE,
)
CAUSE = re.compile(
    r"""\b(?: because(?:[ ]of)? | (?:due|owing)[ ]to | after | (?:result|consequence)[ ]of
    | (?:caused|triggered|provoked|set[ ]off)[ ]by | traced[ ](?:back[ ])?to
    | (?:result(?:s|ed)|comes|came|stems?|stemmed)[ ]from
    | blame[ds]?[ ].*?[ ]on | reason[ ].*?[ ](?:is|was) )
    [ ](?P<cause>.*\w)""",
    re.VERBOSE,
)
Read = Callable[[Sequence[tuple[str, str]]], list[Probabilities]]
_CLAUSE_ENDS = re.compile(r"[,;]\s+(?:and|but|while|whereas|which|who)\s|;\s")
NOTHING = Probabilities(entailed=0, contradicted=0, no_relation=1)


@dataclass(frozen=True)
class Match:
    """Matching claims of both answers, by id. A disagreement has one claim of each answer."""

    agreement: Agreement
    first: tuple[str, ...]
    second: tuple[str, ...]


class _Statement(NamedTuple):
    """A claim as the verifier reads it."""

    id: str
    text: str


_Pair = tuple[_Statement, _Statement]
_Spans = tuple[Span, Span]  # in each of two claims


def align(
    first: Report, second: Report, embedder: Embedder, verifier: CachedVerifier
) -> tuple[Match, ...]:
    """Match the claims of two answers, disagreements first, each in the order of the first answer.

    Claims that are not checked, such as opinions, are left out. A claim can be in several
    disagreements, but in only one agreement: claims that agree with the same claim are one match.
    """
    disagreements: list[Match] = []
    agreements: list[Match] = []
    read = partial(_judge, verifier=verifier, title=first.question)
    for one, other in _candidates(first, second, embedder):
        ids = ((one.id,), (other.id,))
        forward, backward = read([(other.text, one.text), (one.text, other.text)])
        denied = max(forward.contradicted, backward.contradicted)
        exchanged = _exchanged(one.text, other.text, read)
        if denied >= CONTRADICTED or exchanged == "contradiction":
            disagreements.append(Match("contradiction", *ids))
        elif _entails(one.text, other.text, forward) or _entails(other.text, one.text, backward):
            agreements = _joined(Match("same", *ids), agreements)
        elif exchanged and max(forward.entailed, backward.entailed) < ENTAILED:
            disagreements.append(Match("differs", *ids))
    order = [claim.id for claim in first.claims]
    agreements.sort(key=lambda match: order.index(match.first[0]))
    return (*disagreements, *agreements)


def _statements(report: Report) -> list[_Statement]:
    return [_Statement(claim.id, spoken(claim)) for claim in report.claims if claim.checked]


def _candidates(first: Report, second: Report, embedder: Embedder) -> list[_Pair]:
    """Return each checked claim with similar ones of the other answer: the nearest, and of one that
    gives a cause all that do.
    """
    ones, others = _statements(first), _statements(second)
    if not (ones and others):
        return []
    vectors = embedder.embed([statement.text for statement in (*ones, *others)])
    cosines = vectors[: len(ones)] @ vectors[len(ones) :].T
    of_ones, of_others = cosines.max(axis=1), cosines.max(axis=0)
    pairs: list[_Pair] = []
    for i, one in enumerate(ones):
        for j, other in enumerate(others):
            cosine = cosines[i, j]
            are_causal = CAUSAL.search(one.text) and CAUSAL.search(other.text)
            if cosine >= SIMILAR and (are_causal or cosine >= min(of_ones[i], of_others[j])):
                pairs.append((one, other))
    return pairs


def _judge(
    pairs: Sequence[tuple[str, str]], verifier: CachedVerifier, title: str
) -> list[Probabilities]:
    """Return the probabilities of each (claim, premise); nothing for one that is too long."""
    titled = [(*pair, title) if title else pair for pair in pairs]
    pieces = read_each(titled, verifier, DecisionPolicy())
    return [one.probabilities if isinstance(one, Evidence) else NOTHING for one in pieces]


def _exchanged(one: str, other: str, read: Read) -> Agreement | None:
    """Return how two claims relate that give one attribute different values.

    “Lars Eide is the head” and “Under its head Ann Holm it grew” contradict each other: “Ann Holm
    is the head” follows from the second, and contradicts the first. Causes differ if each fits the
    other claim.
    """
    for spans in _rival_spans(one, other):
        clauses, changed = _exchange(one, other, spans)
        fits = max(p.entailed for p in read([(changed[0], other), (changed[1], one)]))
        excludes = max(p.contradicted for p in read(list(zip(clauses, changed, strict=True))))
        if fits >= FITS and excludes >= EXCLUDES:
            return "contradiction"
    if CAUSAL.search(one) or CAUSAL.search(other):
        for spans in itertools.product(_causes(one), _causes(other)):
            _, changed = _exchange(one, other, spans)
            fits = min(p.entailed for p in read([(changed[0], other), (changed[1], one)]))
            if fits >= EACH_FITS:
                return "differs"
    return None


def _exchange(one: str, other: str, spans: _Spans) -> tuple[tuple[str, str], ...]:
    """Return the clauses around a value of each claim, and the same with the other's value."""
    before, value, after = _clause(one, spans[0])
    other_before, other_value, other_after = _clause(other, spans[1])
    clauses = (before + value + after, other_before + other_value + other_after)
    return clauses, (before + other_value + after, other_before + value + other_after)


def _rival_spans(one: str, other: str) -> list[_Spans]:
    """Return the spans of names, and of quantities with their units, that differ in two texts.

    12 kilometres differ from 5 miles, but not from 7.5, and not from 5 hours.
    """
    quantities_there = quantities(other)
    found: list[_Spans] = []
    for quantity in quantities(one):
        if not any(agrees(quantity, rival) for rival in quantities_there):
            rivals = [rival for rival in quantities_there if quantity.unit == rival.unit]
            whole = quantity.whole or quantity.span
            found += [(whole, rival.whole or rival.span) for rival in rivals]
    for name, other_name in itertools.product(_names(one), _names(other)):
        if one[slice(*name)] not in other and other[slice(*other_name)] not in one:
            found.append((name, other_name))
    return found


def _causes(text: str) -> list[Span]:
    """Return what may be a cause in a claim: its subjects, and what follows “because of”."""
    causes = [match.span("cause") for match in CAUSE.finditer(text)]
    for token in parse(text):
        if token.dep_ in NOMINAL_SUBJECTS and token.pos_ != "PRON":
            last = token.right_edge
            causes.append((token.left_edge.idx, last.idx + len(last.text)))
    return causes


def _clause(text: str, span: Span) -> tuple[str, str, str]:
    """Return a value, and what stands before and after it in its clause."""
    start, end = span
    before, after = _CLAUSE_ENDS.split(text[:start])[-1], _CLAUSE_ENDS.split(text[end:])[0]
    return before, text[start:end], after


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
    separate: list[Match] = []
    for other in matches:
        if {*other.first} & {*match.first} or {*other.second} & {*match.second}:
            first = dict.fromkeys(other.first + match.first)
            second = dict.fromkeys(other.second + match.second)
            match = Match("same", tuple(first), tuple(second))
        else:
            separate.append(other)
    return [*separate, match]


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
    def disagreements(self) -> tuple[Match, ...]:
        return tuple(match for match in self.matches if match.agreement != "same")

    @property
    def agreements(self) -> tuple[Match, ...]:
        return tuple(match for match in self.matches if match.agreement == "same")

    def report(self, side: One) -> Report:
        """Return the report of one answer."""
        return self.first if side == "first" else self.second

    def labels(self, side: One, match: Match) -> list[str]:
        """Return the verdicts on the match's claims of one answer, the analyst's first."""
        labels = {v.claim_id: v.assessment or v.label for v in self.report(side).verdicts}
        return [labels.get(claim_id, "not_reached") for claim_id in getattr(match, side)]

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
    matches = align(first, second, EMBEDDERS.chosen(settings), verifier)
    return TwoAnswers(first, second, matches)


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
    one = finished(run(question, first, settings, store, source=source))
    other = finished(run(question, second, settings, store, source=source))
    return compare_reports(one, other, settings, store)


def json_data(result: TwoAnswers) -> Fields:
    """Return JSON-serialisable data: both reports without the texts of their pages, the matches
    with the side that the sources support, and what only one answer says.
    """
    matches = [asdict(match) | {"supported": result.supported(match)} for match in result.matches]
    data: Fields = {"matches": matches}
    for side in SIDES:
        report = result.report(side)
        data[side] = report.model_dump(mode="json", exclude={"pages": {"__all__": {"text"}}})
        data[f"only_{side}"] = [claim.id for claim in result.alone(side)]
    return data
