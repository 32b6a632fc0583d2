"""Check two answers to one question against the same evidence, compare them, and write the result."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
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
from attribution.studies.results import Saved
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


@dataclass(frozen=True)
class TwoAnswers:
    """The result: a report of each answer with its own claims, and how the claims relate to each
    other.
    """

    report: Report  # of all claims together; its answer is both texts, one after the other
    first: Report
    second: Report
    matches: tuple[Match, ...]

    @property
    def contradictions(self) -> tuple[Match, ...]:
        return tuple(m for m in self.matches if m.agreement == "contradiction")

    @property
    def agreements(self) -> tuple[Match, ...]:
        return tuple(m for m in self.matches if m.agreement != "contradiction")

    def alone(self, side: Literal["first", "second"]) -> tuple[Claim, ...]:
        """Return the checked claims of one answer that the other neither states nor contradicts."""
        matched = {claim_id for match in self.matches for claim_id in getattr(match, side)}
        return tuple(c for c in getattr(self, side).claims if c.checked and c.id not in matched)

    def supported(self, match: Match) -> Side:
        """Return the side whose claims the sources support; a claim without a verdict counts as not
        supported.
        """
        labels = {v.claim_id: v.label for v in self.report.verdicts}
        first, second = (
            all(labels.get(i) == "supported" for i in ids) for ids in (match.first, match.second)
        )
        return (
            "both" if first and second else "first" if first else "second" if second else "neither"
        )

    def decided(self, match: Match) -> bool:
        """Return True if all claims of the match have been compared with the sources."""
        labels: dict[str, Label] = {v.claim_id: v.label for v in self.report.verdicts}
        return all(
            labels.get(i, "not_reached") not in UNCHECKED for i in (*match.first, *match.second)
        )


@dataclass(frozen=True)
class TwoAnswersReady:
    """An event with the claims and their matches: once they are known, and again at the end, with
    the verdicts.
    """

    result: TwoAnswers
    finished: bool = False


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
    """Yield the events of one run over the claims of both answers, with TwoAnswersReady twice among
    them.

    The sources are searched once for all claims, and each page is fetched and embedded once. A
    stopped comparison ends
    with the results so far. `context` is the conversation before the question. Raises BadInput,
    before any work, for an
    answer that is empty, too long or not text, or for two that are the same.
    """
    _check_answers(question, first, second, settings)
    store, stop, run_id = (
        store or Store.open(settings.database_url),
        stop or threading.Event(),
        new_run_id(),
    )
    yield events.RunStarted(run_id)
    yield events.StageStarted("segment")
    annotator = LlmAnnotator(settings, store, stop) if _tasks(settings) else None
    claims, failures = list[list[Claim]](), list[Failure]()
    for number, answer in enumerate((first, second)):
        made, failed = _claims(question, answer, settings, store, annotator, stop, context)
        claims.append([_numbered(claim, number) for claim in made])
        failures += failed
        yield events.Progress("segment", number + 1, 2)
    for failure in dict.fromkeys((*failures, *fallbacks(failures))):
        yield events.Failed(failure)
    verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store)
    matches = align(claims[0], claims[1], EMBEDDERS.build(settings.embedder, settings), verifier)
    joined = [*claims[0], *(_shifted(c, len(first) + len(BETWEEN)) for c in claims[1])]
    longer = settings.model_copy(update={"answer_limit": 2 * settings.answer_limit + len(BETWEEN)})
    ids = [frozenset(c.id for c in side) for side in claims]
    both = first + BETWEEN + second
    for event in run(
        question, both, longer, store, documents, stop, joined, run_id=run_id, context=context
    ):
        match event:
            case events.RunStarted():
                continue
            case events.ClaimsReady(known) if all(c.worthiness for c in known):
                yield event
                blank = _blank(question, both, settings, known, context)
                yield TwoAnswersReady(_split(blank, first, second, ids, matches))
            case events.Finished(report):
                report = _with_preparation(report, settings, failures, annotator)
                yield events.Finished(report)
                yield TwoAnswersReady(_split(report, first, second, ids, matches), finished=True)
            case _:
                yield event


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


def _with_preparation(
    report: Report, settings: Settings, failures: Sequence[Failure], annotator: LlmAnnotator | None
) -> Report:
    """Add to the report of the run what happened before it: the settings asked for, failures and
    tokens.
    """
    usage = {**report.usage.llm, **(annotator.usage if annotator else {})}
    return report.model_copy(
        update={
            "settings": with_policy(settings).public(),
            "failures": tuple(dict.fromkeys((*failures, *fallbacks(failures), *report.failures))),
            "usage": report.usage.model_copy(update={"llm": usage}),
        }
    )


def _tasks(settings: Settings) -> list[str]:
    return [task for task in llm_tasks(settings) if task != "queries"]


def _claims(
    question: str,
    answer: str,
    settings: Settings,
    store: Store,
    annotator: LlmAnnotator | None,
    stop: threading.Event,
    context: Sequence[Turn],
) -> tuple[list[Claim], tuple[Failure, ...]]:
    """Return the annotated claims of one answer; the other answer is no context for them."""
    segmented = segment(transcript(question, context), answer, settings, stop)
    claims, failures = annotate(
        question, answer, segmented.claims, _tasks(settings), annotator, context, stop
    )
    claims, unread = check_coherence(answer, claims, settings, store, stop)
    return claims, (*segmented.failures, *failures, *unread)


def _numbered(claim: Claim, number: int) -> Claim:
    """Give a claim an id that no claim of the other answer has, even if both have the same words."""
    return claim.model_copy(update={"id": content_id(str(number), claim.id)})


def _shifted(claim: Claim, offset: int) -> Claim:
    def shift(span: Span) -> Span:
        return span[0] + offset, span[1] + offset

    sentence = shift(claim.sentence) if claim.sentence else None
    return claim.model_copy(update={"spans": tuple(map(shift, claim.spans)), "sentence": sentence})


def _blank(
    question: str, answer: str, settings: Settings, claims: Sequence[Claim], context: Sequence[Turn]
) -> Report:
    return Report(
        id="",
        created_at="",
        question=question,
        answer=answer,
        settings=with_policy(settings).public(),
        versions={},
        claims=tuple(claims),
        context=tuple(context),
    )


def _split(
    report: Report,
    first: str,
    second: str,
    ids: Sequence[frozenset[str]],
    matches: tuple[Match, ...],
) -> TwoAnswers:
    offset = len(first) + len(BETWEEN)
    ours = _part(report, first, [c for c in report.claims if c.id in ids[0]])
    theirs = _part(report, second, [_shifted(c, -offset) for c in report.claims if c.id in ids[1]])
    return TwoAnswers(report, ours, theirs, matches)


def _part(report: Report, answer: str, claims: Sequence[Claim]) -> Report:
    """Reduce the run to one answer and its claims."""
    own = {c.id for c in claims}
    return report.model_copy(
        update={
            "answer": answer,
            "claims": tuple(claims),
            "verdicts": tuple(v for v in report.verdicts if v.claim_id in own),
            "evidence": tuple(e for e in report.evidence if e.claim_id in own),
        }
    )


def with_report(result: TwoAnswers, report: Report) -> TwoAnswers:
    """Return the same claims and matches, with the pages, evidence and verdicts of `report`."""
    first, second = (
        _part(report, side.answer, side.claims) for side in (result.first, result.second)
    )
    return replace(result, report=report, first=first, second=second)


def recolour_answers(result: TwoAnswers, policy: DecisionPolicy) -> TwoAnswers:
    """Relabel the result under another policy, from its stored probabilities alone."""
    if DecisionPolicy.of(result.report.settings) == policy:
        return result
    return with_report(result, recolour(result.report, policy))


ANSWERS = Saved("answers", TypeAdapter(TwoAnswers))


def without_page_texts(result: TwoAnswers) -> TwoAnswers:
    """Drop the text of the pages, and keep pages, evidence and verdicts only once, not again for
    each answer.
    """
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
    """Compare the `first` and the `second` answer of every row, and write a line each, with the
    `result`.
    """
    return Experiment(rows, partial(_prepare, settings), settings.identity).run(path)


def _prepare(settings: Settings) -> Work:
    store = Store.open(settings.database_url)

    def compare_row(row: Row) -> Fields:
        question, context = str(row.fields.get("question") or ""), turns_of(row.fields.get("turns"))
        first, second = row.fields["first"], row.fields["second"]
        *_, last = compare_answers(question, first, second, settings, store, context=context)
        assert isinstance(last, TwoAnswersReady)
        return {"result": json_data(last.result)}

    return compare_row


def json_data(result: TwoAnswers) -> Fields:
    """Return JSON-serialisable data for the command line and the page's download, with the findings
    spelled out.
    """
    labels: Mapping[str, Label] = {v.claim_id: v.label for v in result.report.verdicts}
    data: Fields = ANSWERS.adapter.dump_python(without_page_texts(result), mode="json")
    supported = (
        result.supported(match) if result.decided(match) else None for match in result.matches
    )
    found = TypeAdapter(tuple[Match, ...]).dump_python(result.matches, mode="json")
    data["matches"] = [
        {**match, "supported": side} for match, side in zip(found, supported, strict=True)
    ]
    data["only_first"], data["only_second"] = (
        [c.id for c in result.alone(s)] for s in ("first", "second")
    )
    data["counts"] = {
        side: {
            "checked": sum(labels.get(c.id, "not_reached") not in UNCHECKED for c in part.claims),
            "supported": sum(labels.get(c.id) == "supported" for c in part.claims),
            "contradicted": sum(labels.get(c.id) == "contradicted" for c in part.claims),
        }
        for side, part in (("first", result.first), ("second", result.second))
    }
    return data
