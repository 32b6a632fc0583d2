"""Run the stages in order: answer, claims, pages, evidence, verdicts."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, repeat
from typing import NamedTuple

from attribution import events
from attribution.claims.enrichment import standalone_question
from attribution.claims.llm_annotation import LlmAnnotator, llm_tasks
from attribution.conversation import check_turns, transcript
from attribution.errors import AttributionError, BadInput, LlmFailed, Stopped
from attribution.evidence import EvidenceSource, GatherStep
from attribution.evidence.gathering import LiveSources
from attribution.evidence.matching import Matcher
from attribution.evidence.sources import Sources, open_sources, source_names
from attribution.fetching.fetcher import Fetcher
from attribution.llm.endpoint import EndpointFailed
from attribution.models.engine import current_stop, stoppable
from attribution.pipeline.claims import (
    annotate,
    check_coherence,
    segment,
    unmatched,
    unsupported,
)
from attribution.pipeline.estimate import check_input, note_pace
from attribution.pipeline.record import RunRecord
from attribution.retrieval.index import Candidate
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.marks import without_names
from attribution.types import Claim, Document, Evidence, Failure, Segmented, Turn, Verdict
from attribution.verdicts import decide, missing, not_reached
from attribution.verifiers import smaller_verifier
from attribution.verifiers.calibration import graded

FIRST_GROUPS = (1, 2)  # sizes of the first groups of claims: few, for an early first verdict
GROUP = 4  # claims of each later group, whose pairs are verified together
CACHED = 0.2  # seconds within which all pages in the store have arrived
Passages = list[list[Candidate]]  # the best passages of each claim


class Found(NamedTuple):
    """Claims that are verified together, and what returns their passages."""

    claims: Sequence[Claim]
    find: Callable[[], Passages]


def run(
    question: str,
    answer: str,
    settings: Settings,
    store: Store | None = None,
    documents: Sequence[Document] = (),
    stop: threading.Event | None = None,
    claims: Sequence[Claim] | None = None,
    source: EvidenceSource | None = None,
    run_id: str = "",
    context: Sequence[Turn] = (),
    is_saved: bool = True,
) -> Iterator[events.Event]:
    """Check the claims of an answer.

    Args:
        question: The question, which may be empty.
        answer: The answer to check.
        settings: The methods and limits of the run.
        store: The database; by default that of the settings.
        documents: The user's own sources.
        stop: Setting it ends the run with partial results; by default the signal of the
            `stoppable` block around it.
        claims: Claims in place of the segmenter's.
        source: A source of pages in place of the settings' sources and the documents.
        run_id: The id of the run; that of an interrupted run with the same inputs continues it.
        context: The conversation before the question.
        is_saved: Save the run, under the owner of the store.

    Returns:
        An iterator of the run's events: first RunStarted, last Finished with the report. Bad
        pages, searches and pairs are Failed events.

    Raises:
        BadInput: The answer or a setting is invalid.
        Unavailable: A model or key is missing.
    """
    check_input(question, answer, settings)
    context = check_turns(context)
    # a store of its own, since it records what the run uses
    if store is None:
        store = Store.open(settings.database_url)
    store = Store(store.database, owner=store.rights.owner)
    stop = stop or current_stop() or threading.Event()
    if source is None:
        source = live_sources(settings, store, open_sources(settings, documents, store))
    record = RunRecord(question, answer, settings, run_id, context)
    names = source_names(settings.sources, documents)
    readable = without_names(answer, names)
    return _Run(record, readable, claims, store, source, stop, is_saved).steps()


def live_sources(settings: Settings, store: Store, sources: Sources) -> LiveSources:
    """Return what searches and downloads from these sources."""
    return LiveSources(settings, store, sources, Fetcher(settings).fetch)


@dataclass
class _Run:
    """A run in progress.

    Attributes:
        record: The record of the run, with its inputs.
        answer: The answer without names of sources; the claims are made of it.
        given_claims: Claims in place of the segmenter's.
        store: The database, for this run alone.
        source: The source of its pages.
        stop: Setting it ends the run.
        is_saved: Save the run.
    """

    record: RunRecord
    answer: str
    given_claims: Sequence[Claim] | None
    store: Store
    source: EvidenceSource
    stop: threading.Event
    is_saved: bool

    def __post_init__(self) -> None:
        """Build the models and load an interrupted run."""
        record = self.record
        self.settings = record.settings
        self.question = standalone_question(record.question, record.context)
        self.matcher = Matcher(self.settings, self.store, self.question, record.answer)
        self.annotator: LlmAnnotator | None = None
        if llm_tasks(self.settings):
            self.annotator = LlmAnnotator(self.settings, self.store, self.stop)
        self.saved_pages: set[str] = set()
        before = self.store.runs.load(record.run_id, unfinished=True)
        if before:
            record.go_on_from(before)
            for page in before.pages:
                if page.text and self.matcher.add(page):
                    self.saved_pages.add(page.id)

    def steps(self) -> Iterator[events.Event]:
        """Run the stages, and save the result."""
        record = self.record
        if self.is_saved:
            self.store.runs.start(record.state(self.matcher))
        yield events.RunStarted(record.run_id)
        smaller = smaller_verifier(self.settings)
        if smaller:
            yield from self._fail([smaller])
        yield from self._segment()
        yield from self._annotate()
        yield events.ClaimsReady(tuple(record.claims))
        for claim in record.claims:
            if not claim.checked:
                yield self._decide(claim, ())
        self._save_state()
        checked = [claim for claim in record.claims if claim.checked]
        if checked:
            yield from self._gather(checked)
            yield from self._verify(checked)
        report = record.report(self.matcher, self.stop.is_set())
        if self.is_saved:
            self.store.runs.finish(report, self.matcher.provenance(record.concerns))
        if not report.stopped:
            note_pace(report)
        yield events.Finished(report)

    def _save_state(self) -> None:
        """Save the state so far, so that a killed process loses no verdict."""
        if not self.is_saved:
            return
        new = [page for page in self.matcher.pages.values() if page.id not in self.saved_pages]
        self.store.runs.save_unfinished(self.record.state(self.matcher), new)
        self.saved_pages.update(page.id for page in new)

    # --- claims ---

    def _segment(self) -> Iterator[events.Event]:
        yield events.StageStarted("segment")
        record = self.record
        failure = unsupported(record.answer, self.settings)
        if failure:
            yield from self._fail([failure])
        with record.timed("segment"):
            if self.given_claims is not None:
                segmented = Segmented(tuple(self.given_claims))
            else:
                question = transcript(record.question, record.context)
                segmented = segment(question, self.answer, self.settings, self.stop)
        record.claims = list(segmented.claims)
        if segmented.version:
            record.add_llm({"segmenter": segmented.version}, {})
        if segmented.usage:
            record.add_llm({}, {"segment": segmented.usage})
        yield from self._fail(segmented.failures)
        yield events.ClaimsReady(segmented.claims)

    def _annotate(self) -> Iterator[events.Event]:
        """Annotate the claims that came without annotations, and check the coherence of all."""
        yield events.StageStarted("worth")
        record = self.record
        with record.timed("worth"):
            new = [claim for claim in record.claims if claim.worthiness is None]
            annotated, failures = annotate(
                record.question,
                self.answer,
                new,
                self.annotator,
                record.context,
                self.stop,
            )
            by_id = {claim.id: claim for claim in annotated}
            record.claims = [by_id.get(claim.id, claim) for claim in record.claims]
        if self.annotator:
            record.add_llm(self.annotator.versions, self.annotator.usage)
        yield from self._fail(failures)
        with record.timed("coherence"):
            record.claims = check_coherence(
                self.answer, record.claims, self.settings, self.store, self.stop
            )

    # --- pages ---

    def _gather(self, checked: Sequence[Claim]) -> Iterator[events.Event]:
        """Search and download.

        A claim gets an early verdict once its pages have arrived and no others are coming in; the
        run's first verdict does not wait for that.
        """
        yield events.StageStarted("search")
        by_id = {claim.id: claim for claim in checked}
        complete: list[str] = []
        is_first = True
        steps = self.source.gather(checked, self.question, self.stop)
        for step in self._timed_steps(steps):
            yield from self._take(step)
            complete += step.complete
            is_late = self.record.timings["gather"] > CACHED
            is_ready = step.idle or (is_first and is_late)
            if complete and is_ready and not self._unmatched():
                claim = by_id[complete.pop(0)]
                find = functools.partial(self.matcher.find, [claim], early=True)
                yield from self._match([claim], find)
                is_first = False

    def _timed_steps(self, steps: Iterator[GatherStep]) -> Iterator[GatherStep]:
        """Yield the steps of search and download, and count their time without that of the run
        between them.
        """
        while True:
            with self.record.timed("gather"):
                step = next(steps, None)
            if step is None:
                return
            yield step

    def _take(self, step: GatherStep) -> Iterator[events.Event]:
        """Add the pages of a step of search and download."""
        self.record.spend(step.spent)
        self.matcher.trace(step.traces)
        yield from self._fail(step.failures, step.claim_ids)
        for page in step.pages:
            if self.matcher.add(page):
                yield events.PageReady(page)
        if not step.idle:
            yield events.Progress(step.stage, step.done, step.total)
            yield self.record.spent
        if step.pages:
            with self.record.timed("embed"):
                self.matcher.chunk(self.stop)  # while others are still under way

    # --- verdicts ---

    def _verify(self, checked: Sequence[Claim]) -> Iterator[events.Event]:
        """Yield the final verdicts: every claim is compared with the passages of all pages."""
        yield events.StageStarted("embed")
        with self.record.timed("embed"):
            self.matcher.settle(self.stop)
        yield events.StageStarted("verify")
        reason = self._unmatched()
        if reason:
            for claim in checked:
                yield self._record(missing(claim, reason), ())
            return
        done = 0
        finder = ThreadPoolExecutor(1, thread_name_prefix="find")
        try:
            for claims, find in self._found(_grouped(checked), finder):
                yield events.Progress("verify", done, len(checked))
                if self.stop.is_set():
                    break
                yield from self._match(claims, find)
                done += len(claims)
        finally:
            finder.shutdown(cancel_futures=True)
        if done == len(checked):
            yield events.Progress("verify", done, done)
        for claim in checked:
            if claim.id not in self.record.verdicts:
                yield self._record(not_reached(claim), ())

    def _found(
        self, groups: Iterator[Sequence[Claim]], finder: ThreadPoolExecutor
    ) -> Iterator[Found]:
        """Yield each group of claims with what returns its passages.

        A thread finds those of later groups while earlier ones are judged, so that no core is idle.
        It starts after the first group, whose verdict is waited for.
        """
        first = next(groups)
        yield Found(first, functools.partial(self._find, first))
        yield from [Found(group, finder.submit(self._find, group).result) for group in groups]

    def _unmatched(self) -> str:
        return unmatched(self.record.answer, self.settings, self.matcher.pages.values())

    def _find(self, claims: Sequence[Claim]) -> Passages:
        with stoppable(self.stop):
            return self.matcher.find(claims)

    def _match(
        self, claims: Sequence[Claim], find: Callable[[], Passages]
    ) -> Iterator[events.Event]:
        """Compare claims with the passages that `find` returns for them."""
        evidence: Sequence[tuple[Evidence, ...]] = [()]
        try:
            with self.record.timed("verify"), stoppable(self.stop):
                evidence = self.matcher.judge(claims, find())
        except Stopped:
            return
        except (BadInput, LlmFailed) as error:
            if len(claims) > 1:  # one claim's failure affects no other
                for claim in claims:
                    yield from self._match([claim], functools.partial(self._find, [claim]))
                return
            yield from self._fail([_unjudged(claims[0], error)], [claims[0].id])
        decided = [self._decide(*pair) for pair in zip(claims, evidence, strict=True)]
        self._save_state()
        yield from decided

    def _decide(self, claim: Claim, evidence: tuple[Evidence, ...]) -> events.VerdictReady:
        verdict = decide(claim, evidence, self.matcher.policy, self.record.concerns[claim.id])
        return self._record(graded(verdict, self.matcher.verifier.version), evidence)

    def _record(self, verdict: Verdict, evidence: tuple[Evidence, ...]) -> events.VerdictReady:
        self.record.add_verdict(verdict, evidence)
        return events.VerdictReady(verdict, evidence)

    def _fail(
        self, failures: Iterable[Failure], claim_ids: Sequence[str] = ()
    ) -> Iterator[events.Event]:
        for failure in failures:
            if self.record.add_failure(failure, claim_ids):
                yield events.Failed(failure)


def _grouped(claims: Sequence[Claim]) -> Iterator[Sequence[Claim]]:
    """Cut claims into groups whose pairs are verified together; the first ones are small."""
    start = 0
    for size in chain(FIRST_GROUPS, repeat(GROUP)):
        group = claims[start : start + size]
        if not group:
            return
        yield group
        start += size


def _unjudged(claim: Claim, error: AttributionError) -> Failure:
    is_shared = isinstance(error, EndpointFailed)  # which is one line for all claims
    return Failure(
        stage="verify",
        subject="language model" if is_shared else claim.id,
        kind="verifier_failed",
        message=str(error),
        detail=error.detail,
    )
