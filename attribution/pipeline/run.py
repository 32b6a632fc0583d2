"""Run the stages in order: answer, claims, pages, evidence, verdicts."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, repeat
from typing import TypeVar

from attribution import events
from attribution.claims.enrichment import check_turns, standalone_question, transcript
from attribution.claims.llm_annotation import LlmAnnotator, llm_tasks
from attribution.errors import AttributionError, BadInput, LlmFailed, Stopped
from attribution.events import Queued
from attribution.evidence import EvidenceSource, GatherStep, LlmRecord
from attribution.evidence.gathering import LiveSources
from attribution.evidence.matching import Matcher
from attribution.evidence.sources import open_sources, source_names
from attribution.fair_queue import Turns as Turns
from attribution.fetching.fetcher import Fetcher
from attribution.llm.endpoint import EndpointFailed
from attribution.models.engine import stoppable
from attribution.pipeline.claims import (
    annotate,
    check_coherence,
    fallbacks,
    segment,
    unmatched,
    unsupported,
)
from attribution.pipeline.estimate import check_input
from attribution.pipeline.record import RunRecord
from attribution.retrieval.index import Candidate
from attribution.settings import Settings, server_number
from attribution.store.store import Store
from attribution.text.marks import without_names
from attribution.types import Claim, Document, Evidence, Failure, Report, Segmented, Turn, Verdict
from attribution.verdicts import decide, not_reached
from attribution.verifiers import policy_of, with_policy
from attribution.verifiers.auto import smaller_verifier
from attribution.verifiers.calibration import graded

GROUPS = (
    1,
    2,
    4,
)  # claims whose pairs are verified together: few at first, for an early first verdict
Found = Future[list[list[Candidate]]]  # the passages of each claim of a group
Matched = tuple[Claim, tuple[Evidence, ...], list[Failure]]
CACHED = 0.2  # seconds within which all pages in the store have arrived


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
) -> Iterator[events.Event]:
    """Yield the events of one run: first RunStarted with its id (`run_id` or a new one), last
    Finished with the report.

    `context` is the conversation before the question. `claims` replace the segmenter's. A `source`,
    such as a snapshot,
    replaces the settings' sources and the documents. With the id of an interrupted run and the same
    inputs, that run is
    continued.

    BadInput or Unavailable are raised before the first event; later, bad pages, searches and pairs
    become Failed
    events. A stopped run ends with partial results.
    """
    check_input(question, answer, settings)
    settings = with_policy(settings)
    context = check_turns(context)
    # a separate one, since it records what the run uses
    store = Store(store.database, store.rights.by) if store else Store.open(settings.database_url)
    stop = stop or threading.Event()
    source = source or _live(settings, store, documents, stop)
    names = source_names(settings.sources, documents)
    return _Run(
        question, answer, settings, store, source, stop, claims, run_id, context, names
    ).go()


def _live(
    settings: Settings, store: Store, documents: Sequence[Document], stop: threading.Event
) -> LiveSources:
    annotator = LlmAnnotator(settings, store, stop) if "queries" in llm_tasks(settings) else None
    fetch = Fetcher(settings).fetch
    return LiveSources(settings, store, open_sources(settings, documents, store), fetch, annotator)


class _Run:
    """A run in progress."""

    def __init__(
        self,
        question: str,
        answer: str,
        settings: Settings,
        store: Store,
        source: EvidenceSource,
        stop: threading.Event,
        claims: Sequence[Claim] | None,
        run_id: str,
        context: tuple[Turn, ...],
        names: frozenset[str],
    ) -> None:
        self.question, self.answer, self.settings, self.context = (
            question,
            answer,
            settings,
            context,
        )
        self.policy = policy_of(settings)
        self.asked = standalone_question(question, context)
        self.read_answer = without_names(answer, names)  # the claims are made of it
        self.store, self.source, self.stop, self.given_claims = (
            source.over(store),
            source,
            stop,
            claims,
        )
        self.matcher = Matcher(settings, self.store, self.asked, source.judgements, answer)
        self.record = RunRecord(question, answer, settings, run_id, context)
        self.prepared = source.claims(question, answer, settings)
        self.tasks = (
            [] if self.prepared else [task for task in llm_tasks(settings) if task != "queries"]
        )
        self.annotator = LlmAnnotator(settings, self.store, stop) if self.tasks else None
        self._saved_pages: set[str] = set()
        if run_id and (before := store.runs.load_unfinished(run_id)):
            self._go_on_from(before)

    def _go_on_from(self, before: Report) -> None:
        self.record.go_on_from(before)
        for page in before.pages:
            if page.text and self.matcher.add(page):
                self._saved_pages.add(page.id)

    def go(self) -> Iterator[events.Event]:
        run_id = self.record.run_id
        self.store.runs.start(
            run_id, self.question, self.answer, self.settings.public(), self.record.created_at
        )
        yield events.RunStarted(run_id)
        if failure := smaller_verifier(self.settings):
            yield from self._fail(failure)
        yield from self._claims()
        checked = [c for c in self.record.claims if c.checked]
        for claim in self.record.claims:
            if not claim.checked:
                yield self._decide(claim, ())
        self._keep()
        if checked:
            yield from self._gather(checked)
            yield from self._verify(checked)
        report = self.record.report(self.matcher, self.stop.is_set())
        self.store.runs.finish(report, self.matcher.provenance(self.record.concerns))
        yield events.Finished(report)

    def _keep(self) -> None:
        """Save the state so far, so that a killed process loses no verdict."""
        new = [page for page in self.matcher.pages.values() if page.id not in self._saved_pages]
        self.store.runs.save_unfinished(
            self.record.report(self.matcher, stopped=False, final=False), new
        )
        self._saved_pages.update(page.id for page in new)

    def _claims(self) -> Iterator[events.Event]:
        if self.prepared:
            self.record.claims = list(self.prepared.claims)
            self.record.add_llm(self.prepared.llm)
            for failure in self.prepared.failures:
                yield from self._fail(failure)
        else:
            yield from self._segment()
            yield from self._annotate()
        yield events.ClaimsReady(tuple(self.record.claims))

    def _segment(self) -> Iterator[events.Event]:
        yield events.StageStarted("segment")
        if failure := unsupported(self.answer, self.settings):
            yield from self._fail(failure)
        with self.record.timed("segment"):
            if self.given_claims is not None:
                segmented = Segmented(tuple(self.given_claims))
            else:
                segmented = segment(
                    transcript(self.question, self.context),
                    self.read_answer,
                    self.settings,
                    self.stop,
                )
        self.record.claims = list(segmented.claims)
        if segmented.version:
            self.record.add_llm(LlmRecord({"segmenter": segmented.version}))
        if segmented.usage:
            self.record.add_llm(LlmRecord(usage={"segment": segmented.usage}))
        for failure in (*segmented.failures, *fallbacks(segmented.failures)):
            yield from self._fail(failure)
        yield events.ClaimsReady(segmented.claims)

    def _annotate(self) -> Iterator[events.Event]:
        yield events.StageStarted("worth")
        with self.record.timed("worth"):
            new = [
                c for c in self.record.claims if c.worthiness is None
            ]  # claims edited by hand stay as they are
            annotated, failures = annotate(
                self.question,
                self.read_answer,
                new,
                self.tasks,
                self.annotator,
                self.context,
                self.stop,
            )
            by_id = {c.id: c for c in annotated}
            self.record.claims = [by_id.get(c.id, c) for c in self.record.claims]
        if self.annotator:
            self.record.add_llm(LlmRecord(self.annotator.versions, self.annotator.usage))
        for failure in (*failures, *fallbacks(failures)):
            yield from self._fail(failure)
        with self.record.timed("coherence"):
            self.record.claims, unread = check_coherence(
                self.read_answer, self.record.claims, self.settings, self.store, self.stop
            )
        for failure in unread:
            yield from self._fail(failure)

    def _gather(self, checked: list[Claim]) -> Iterator[events.Event]:
        """Search and download. A claim gets an early verdict once its pages have arrived and no
        others are coming in;
        the run's first verdict does not wait for that."""
        yield events.StageStarted("search")
        by_id = {c.id: c for c in checked}
        complete: list[str] = []
        shown = False
        for step in self._steps(self.source.gather(checked, self.asked, self.stop)):
            yield from self._take(step)
            complete += step.complete
            ready = step.idle or (not shown and self.record.timings["gather"] > CACHED)
            if (
                complete
                and ready
                and not unmatched(self.answer, self.settings, self.matcher.pages.values())
            ):
                yield from self._match([by_id[complete.pop(0)]], early=True)
                shown = True

    def _steps(self, steps: Iterator[GatherStep]) -> Iterator[GatherStep]:
        """The steps of search and download, timed; what the run does between them does not count."""
        started = time.perf_counter()
        for step in steps:
            self.record.timings["queries" if step.stage == "queries" else "gather"] += (
                time.perf_counter() - started
            )
            yield step
            started = time.perf_counter()

    def _take(self, step: GatherStep) -> Iterator[events.Event]:
        self.record.spend(step.spent)
        self.record.add_llm(step.llm)
        self.matcher.trace(step.traces)
        for failure in (*step.failures, *fallbacks(step.failures)):
            yield from self._fail(failure, step.claim_ids)
        for page in step.pages:
            if self.matcher.add(page):
                yield events.PageReady(page)
        if not step.idle:
            yield events.Progress(step.stage, step.done, step.total)
            yield self.record.spent
        if step.pages:
            with self.record.timed("embed"):
                self.matcher.chunk(self.stop)  # while others are still under way

    def _verify(self, checked: list[Claim]) -> Iterator[events.Event]:
        """Yield the final verdicts: every claim is compared with the passages of all pages."""
        yield events.StageStarted("embed")
        with self.record.timed("embed"):
            self.matcher.settle(self.stop)
        yield events.StageStarted("verify")
        if reason := unmatched(self.answer, self.settings, self.matcher.pages.values()):
            for claim in checked:
                yield self._record(not_reached(claim, reason), ())
            return
        groups = list(_grouped(checked))
        # one thread finds the next group's passages while this one judges, so that no core is idle
        # between them
        with ThreadPoolExecutor(1, thread_name_prefix="find") as ahead:
            found: Found | None = None
            for number, group in enumerate(groups):
                yield events.Progress("verify", sum(map(len, groups[:number])), len(checked))
                if self.stop.is_set():
                    break
                own = found or ahead.submit(self._find, group)
                found = None
                # but the first verdict does not wait for the second group's
                if number + 1 < len(groups) and any(
                    claim.id in self.record.verdicts for claim in checked
                ):
                    found = ahead.submit(self._find, groups[number + 1])
                yield from self._match(group, found=own)
            else:
                yield events.Progress("verify", len(checked), len(checked))
        for claim in checked:
            if claim.id not in self.record.verdicts:
                yield self._record(not_reached(claim), ())

    def _find(self, claims: Sequence[Claim]) -> list[list[Candidate]]:
        with stoppable(self.stop):
            return self.matcher.find(claims)

    def _match(
        self, claims: Sequence[Claim], early: bool = False, found: Found | None = None
    ) -> Iterator[events.Event]:
        try:
            with self.record.timed("verify"), stoppable(self.stop):
                matched = match_each(self.matcher, claims, early, found)
        except Stopped:
            return
        for claim, _, failures in matched:
            for failure in failures:
                yield from self._fail(failure, [claim.id])
        decided = [self._decide(claim, evidence) for claim, evidence, _ in matched]
        if decided:
            self._keep()
        yield from decided

    def _decide(self, claim: Claim, evidence: tuple[Evidence, ...]) -> events.VerdictReady:
        return self._record(
            graded(
                decide(claim, evidence, self.policy, self.record.concerns[claim.id]),
                self.matcher.verifier.version,
            ),
            evidence,
        )

    def _record(self, verdict: Verdict, evidence: tuple[Evidence, ...]) -> events.VerdictReady:
        self.record.add_verdict(verdict, evidence)
        return events.VerdictReady(verdict, evidence)

    def _fail(self, failure: Failure, claim_ids: Sequence[str] = ()) -> Iterator[events.Event]:
        if self.record.add_failure(failure, claim_ids):
            yield events.Failed(failure)


T = TypeVar("T")  # an event


def _grouped(claims: Sequence[Claim]) -> Iterator[Sequence[Claim]]:
    start = 0
    for size in chain(GROUPS, repeat(GROUPS[-1])):
        if start >= len(claims):
            break
        yield claims[start : start + size]
        start += size


def match_each(
    matcher: Matcher, claims: Sequence[Claim], early: bool = False, found: Found | None = None
) -> list[Matched]:
    """Return the evidence of each claim; one that the verifier cannot judge has a failure, which
    affects no other.

    `found` are the claims' passages where another thread finds them.
    """
    try:
        passages = found.result() if found else matcher.find(claims, early)
    except (BadInput, LlmFailed) as error:
        if len(claims) > 1:
            return [one for claim in claims for one in match_each(matcher, [claim], early)]
        return [(claims[0], (), [_unjudged(claims[0], error)])]
    return _judge_each(matcher, claims, passages)


def _judge_each(
    matcher: Matcher, claims: Sequence[Claim], passages: Sequence[Sequence[Candidate]]
) -> list[Matched]:
    try:
        return [(c, e, []) for c, e in zip(claims, matcher.judge(claims, passages), strict=True)]
    except (BadInput, LlmFailed) as error:
        if len(claims) > 1:
            each = zip(claims, passages, strict=True)
            return [one for claim, own in each for one in _judge_each(matcher, [claim], [own])]
        claim, readable = claims[0], [c for c in passages[0] if matcher.can_read(claims[0], c)]
        if isinstance(error, BadInput) and 0 < len(readable) < len(passages[0]):
            message = f"{len(passages[0]) - len(readable)} of {len(passages[0])} passages were not read: {error}"
            unread = Failure(stage="verify", subject=claim.id, kind="left_out", message=message)
            return [(c, e, [*f, unread]) for c, e, f in _judge_each(matcher, claims, [readable])]
        return [(claim, (), [_unjudged(claim, error)])]


def _unjudged(claim: Claim, error: AttributionError) -> Failure:
    subject = (
        "language model" if isinstance(error, EndpointFailed) else claim.id
    )  # one line for all claims
    return Failure(
        stage="verify",
        subject=subject,
        kind="verifier_failed",
        message=str(error),
        detail=error.detail,
    )


@functools.cache
def turns() -> Turns:
    """Return the queue of this process, shared by its web pages and its API."""
    return Turns(server_number("ATTRIBUTION_RUNS"))


def in_turn(
    owner: str, stop: threading.Event, run: Callable[[], Iterator[T]], among: Turns | None = None
) -> Iterator[Queued | T]:
    """Yield the places of a run in the queue, then its events once it has its turn; no events if
    stopped before that.

    Raises Busy if too many wait.
    """
    queue = among or turns()
    with queue.ticket(owner) as ticket:
        for place in queue.wait(ticket, stop):
            yield Queued(place)
        if ticket.running:
            yield from run()


def each_in_turn(
    owner: str, stop: threading.Event, steps: Iterable[T], among: Turns | None = None
) -> Iterator[Queued | T]:
    """Yield what `steps` yields, each made in a turn of its own, so that long work lets that of
    others pass.

    Work that is stopped before its first turn yields nothing; later it ends by itself. Raises Busy
    if too many wait.
    """
    queue, left, begun = among or turns(), iter(steps), False
    while True:
        with queue.ticket(owner, begun) as ticket:
            for place in queue.wait(ticket, stop):
                yield Queued(place)
            if not ticket.running:
                break
            try:
                step = next(left)
            except StopIteration:
                return
        begun = True
        yield step
    if begun:
        yield from left
