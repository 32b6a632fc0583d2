"""Check two answers to one question against the same evidence, and compare them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from attribution import events
from attribution.claims.enrichment import transcript, turns_of
from attribution.claims.llm_annotation import LlmAnnotator, llm_tasks
from attribution.embedders import EMBEDDERS
from attribution.errors import BadInput
from attribution.files import Row
from attribution.pipeline.claims import annotate, check_coherence, fallbacks, segment
from attribution.pipeline.estimate import check_input
from attribution.pipeline.experiment import Experiment, Fields, RowDone, Work
from attribution.pipeline.run import run
from attribution.policy import DecisionPolicy
from attribution.settings import Settings
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.answers.agreement import Match, align
from attribution.studies.results import Saved, blank_report
from attribution.types import (
    UNCHECKED,
    Claim,
    Document,
    Failure,
    Label,
    Report,
    Span,
    Turn,
    content_id,
)
from attribution.verdicts import recolour
from attribution.verifiers import VERIFIERS, with_policy
from attribution.verifiers.pairs import CachedVerifier

BETWEEN = "\n\n"  # separates the answers in the text that one run checks
Side = Literal["first", "second", "both", "neither"]
One = Literal["first", "second"]


@dataclass(frozen=True)
class TwoAnswers:
    """The result: a report of each answer with its own claims, and how the claims relate.

    Attributes:
        report: Of all claims together; its answer is both texts, one after the other.
    """

    report: Report
    first: Report
    second: Report
    matches: tuple[Match, ...]

    @property
    def contradictions(self) -> tuple[Match, ...]:
        return tuple(m for m in self.matches if m.agreement == "contradiction")

    @property
    def agreements(self) -> tuple[Match, ...]:
        return tuple(m for m in self.matches if m.agreement != "contradiction")

    @property
    def labels(self) -> dict[str, Label]:
        """The verdicts by claim id."""
        return {verdict.claim_id: verdict.label for verdict in self.report.verdicts}

    def alone(self, side: One) -> tuple[Claim, ...]:
        """Return the checked claims of one answer that the other neither states nor contradicts."""
        report: Report = getattr(self, side)
        matched = {claim_id for match in self.matches for claim_id in getattr(match, side)}
        return tuple(c for c in report.claims if c.checked and c.id not in matched)

    def supported(self, match: Match) -> Side:
        """Return the side whose claims the sources support."""
        labels = self.labels
        is_first = all(labels.get(claim_id) == "supported" for claim_id in match.first)
        is_second = all(labels.get(claim_id) == "supported" for claim_id in match.second)
        if is_first:
            return "both" if is_second else "first"
        return "second" if is_second else "neither"

    def decided(self, match: Match) -> bool:
        """Return True if all claims of the match have been compared with the sources."""
        labels = self.labels
        ids = (*match.first, *match.second)
        return all(labels.get(claim_id, "not_reached") not in UNCHECKED for claim_id in ids)


@dataclass(frozen=True)
class TwoAnswersReady:
    """An event: the claims and their matches, first without verdicts and at the end with them."""

    result: TwoAnswers
    finished: bool = False


@dataclass(frozen=True)
class _Preparation:
    """What happens before the sources are searched."""

    question: str
    answers: tuple[str, str]
    settings: Settings
    store: Store
    annotator: LlmAnnotator | None
    stop: threading.Event
    context: Sequence[Turn]

    @property
    def text(self) -> str:
        """Both answers, as one run reads them."""
        return BETWEEN.join(self.answers)

    @property
    def offset(self) -> int:
        """Where the second answer begins in the text."""
        return len(self.answers[0]) + len(BETWEEN)

    def claims(self, number: int) -> tuple[list[Claim], list[Failure]]:
        """Return the annotated claims of one answer; the other answer is no context for them.

        Their ids are unlike those of the other answer, even of claims with the same words.
        """
        answer = self.answers[number]
        asked = transcript(self.question, self.context)
        segmented = segment(asked, answer, self.settings, self.stop)
        annotated, refused = annotate(
            self.question,
            answer,
            segmented.claims,
            _tasks(self.settings),
            self.annotator,
            self.context,
            self.stop,
        )
        checked = check_coherence(answer, annotated, self.settings, self.store, self.stop)
        claims = [
            claim.model_copy(update={"id": content_id(str(number), claim.id)}) for claim in checked
        ]
        return claims, [*segmented.failures, *refused]

    def split(
        self, report: Report, ids: Sequence[set[str]], matches: Sequence[Match]
    ) -> TwoAnswers:
        """Divide the run into the two answers."""
        first = [claim for claim in report.claims if claim.id in ids[0]]
        second = [_shifted(claim, -self.offset) for claim in report.claims if claim.id in ids[1]]
        reports = (
            _part(report, self.answers[0], first),
            _part(report, self.answers[1], second),
        )
        return TwoAnswers(report, *reports, tuple(matches))


def compare_answers(
    question: str,
    first: str,
    second: str,
    settings: Settings,
    store: Store | None = None,
    documents: Sequence[Document] = (),
    stop: threading.Event | None = None,
    context: Sequence[Turn] = (),
) -> Iterator[events.Event | TwoAnswersReady]:
    """Compare two answers. The sources are searched once for all claims.

    Args:
        context: The conversation before the question.

    Yields:
        The events of one run over the claims of both answers, with TwoAnswersReady twice among
        them. A stopped comparison ends with the results so far.

    Raises:
        BadInput: An answer is empty, too long or not text, or both are the same. Nothing was done.
    """
    _check_answers(question, first, second, settings)
    store = store or Store.open(settings.database_url)
    stop = stop or threading.Event()
    annotator = LlmAnnotator(settings, store, stop) if _tasks(settings) else None
    preparation = _Preparation(question, (first, second), settings, store, annotator, stop, context)
    run_id = new_run_id()
    yield events.RunStarted(run_id)
    yield events.StageStarted("segment")
    claims: list[list[Claim]] = []
    failures: list[Failure] = []
    for number in range(2):
        own, failed = preparation.claims(number)
        claims.append(own)
        failures += failed
        yield events.Progress("segment", number + 1, 2)
    failures = list(dict.fromkeys((*failures, *fallbacks(failures))))
    for failure in failures:
        yield events.Failed(failure)
    verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store)
    matches = align(claims[0], claims[1], EMBEDDERS.build(settings.embedder, settings), verifier)
    ids = [{claim.id for claim in side} for side in claims]
    joined = [*claims[0], *(_shifted(claim, preparation.offset) for claim in claims[1])]
    limit = 2 * settings.answer_limit + len(BETWEEN)
    longer = settings.model_copy(update={"answer_limit": limit})
    text = preparation.text
    steps = run(
        question, text, longer, store, documents, stop, joined, run_id=run_id, context=context
    )
    for event in steps:
        if isinstance(event, events.RunStarted):
            continue
        if isinstance(event, events.Finished):
            report = _with_preparation(event.report, settings, failures, annotator)
            yield events.Finished(report)
            yield TwoAnswersReady(preparation.split(report, ids, matches), finished=True)
            continue
        yield event
        if isinstance(event, events.ClaimsReady) and all(c.worthiness for c in event.claims):
            blank = blank_report(question, text, settings, event.claims, context)
            yield TwoAnswersReady(preparation.split(blank, ids, matches))


def _check_answers(question: str, first: str, second: str, settings: Settings) -> None:
    for name, answer in (("first", first), ("second", second)):
        try:
            check_input(question, answer, settings)
        except BadInput as error:
            raise BadInput(f"Of the {name} answer: {error}") from None
    if " ".join(first.split()) == " ".join(second.split()):
        raise BadInput(
            "Both answers are the same text: paste two different answers to the question."
        )


def _tasks(settings: Settings) -> list[str]:
    return [task for task in llm_tasks(settings) if task != "queries"]


def _with_preparation(
    report: Report, settings: Settings, failures: Sequence[Failure], annotator: LlmAnnotator | None
) -> Report:
    """Add to the report of the run what happened before it: settings, failures and tokens."""
    llm = {**report.usage.llm, **(annotator.usage if annotator else {})}
    update = {
        "settings": with_policy(settings).public(),
        "failures": tuple(dict.fromkeys((*failures, *report.failures))),
        "usage": report.usage.model_copy(update={"llm": llm}),
    }
    return report.model_copy(update=update)


def _shifted(claim: Claim, offset: int) -> Claim:
    def shift(span: Span) -> Span:
        return span[0] + offset, span[1] + offset

    sentence = shift(claim.sentence) if claim.sentence else None
    return claim.model_copy(update={"spans": tuple(map(shift, claim.spans)), "sentence": sentence})


def _part(report: Report, answer: str, claims: Sequence[Claim]) -> Report:
    """Reduce the run to one answer and its claims."""
    ids = {claim.id for claim in claims}
    update = {
        "answer": answer,
        "claims": tuple(claims),
        "verdicts": tuple(v for v in report.verdicts if v.claim_id in ids),
        "evidence": tuple(e for e in report.evidence if e.claim_id in ids),
    }
    return report.model_copy(update=update)


def with_report(result: TwoAnswers, report: Report) -> TwoAnswers:
    """Return the same claims and matches, with the pages, evidence and verdicts of `report`."""
    first = _part(report, result.first.answer, result.first.claims)
    second = _part(report, result.second.answer, result.second.claims)
    return replace(result, report=report, first=first, second=second)


def recolour_answers(result: TwoAnswers, policy: DecisionPolicy) -> TwoAnswers:
    """Relabel the result under another policy, from its stored probabilities alone."""
    if DecisionPolicy.of(result.report.settings) == policy:
        return result
    return with_report(result, recolour(result.report, policy))


ANSWERS = Saved("answers", TypeAdapter(TwoAnswers))


def without_page_texts(result: TwoAnswers) -> TwoAnswers:
    """Drop the text of the pages, and pages, evidence and verdicts from both parts."""
    pages = tuple(p.model_copy(update={"text": ""}) for p in result.report.pages)
    bare = {"pages": (), "evidence": (), "verdicts": (), "failures": ()}
    return replace(
        result,
        report=result.report.model_copy(update={"pages": pages}),
        first=result.first.model_copy(update=bare),
        second=result.second.model_copy(update=bare),
    )


def save_answers(store: Store, result_id: str, result: TwoAnswers) -> None:
    """Save a comparison."""
    ANSWERS.save(store, result_id, without_page_texts(result), result.report.pages)


def load_answers(store: Store, result_id: str) -> TwoAnswers | None:
    """Load a comparison with its pages' texts."""
    saved = ANSWERS.load(store, result_id)
    return saved and with_report(saved, store.cache.with_texts(saved.report))


def compare_many(rows: Sequence[Row], settings: Settings, path: Path) -> Iterator[RowDone]:
    """Compare the `first` and the `second` answer of every row, and write a line each."""
    return Experiment(rows, partial(_prepare, settings), settings.identity).run(path)


def _prepare(settings: Settings) -> Work:
    store = Store.open(settings.database_url)

    def compare_row(row: Row) -> Fields:
        question = str(row.fields.get("question") or "")
        context = turns_of(row.fields.get("turns"))
        first, second = row.fields["first"], row.fields["second"]
        *_, last = compare_answers(question, first, second, settings, store, context=context)
        assert isinstance(last, TwoAnswersReady)
        return {"result": json_data(last.result)}

    return compare_row


def json_data(result: TwoAnswers) -> Fields:
    """Return JSON-serialisable data for the command line and the page's download.

    The findings are spelled out: which side is supported, what only one says, and counts.
    """
    labels = result.labels
    data: Fields = ANSWERS.adapter.dump_python(without_page_texts(result), mode="json")
    matches: list[Fields] = TypeAdapter(tuple[Match, ...]).dump_python(result.matches, mode="json")
    for match, fields in zip(result.matches, matches, strict=True):
        fields["supported"] = result.supported(match) if result.decided(match) else None
    data["matches"] = matches
    counts: Fields = {}
    sides: tuple[tuple[One, Report], ...] = (("first", result.first), ("second", result.second))
    for side, report in sides:
        own = [labels.get(claim.id, "not_reached") for claim in report.claims]
        data[f"only_{side}"] = [claim.id for claim in result.alone(side)]
        counts[side] = {
            "checked": sum(label not in UNCHECKED for label in own),
            "supported": own.count("supported"),
            "contradicted": own.count("contradicted"),
        }
    data["counts"] = counts
    return data
