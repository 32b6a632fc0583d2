"""The order of the stages, and nothing else knows it: answer → claims → pages → evidence → verdicts."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import partial

from attribution import events
from attribution.claims import coherence, enrichment, independence, worthiness
from attribution.claims.llm_annotation import LlmAnnotator, llm_tasks
from attribution.errors import BadInput
from attribution.evidence.gathering import Gatherer
from attribution.evidence.matching import Judge, Matcher
from attribution.evidence.sources import Sources, open_sources
from attribution.evidence.user_documents import read_document
from attribution.pipeline.languages import unsupported
from attribution.pipeline.run_record import RunRecord
from attribution.registry import build
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.snapshots.snapshot import Snapshot
from attribution.storage import http_responses
from attribution.storage.store import Store
from attribution.types import Claim, Document, Evidence, Failure, Segmented, Verdict
from attribution.verdicts import UNREACHED, verdict
from attribution.verifiers import VERIFIERS
from attribution.web.fetcher import Fetcher

GROUP = 4  # claims whose pairs are verified together


def check_input(question: str, answer: str, settings: Settings) -> None:
    """BadInput for an answer that is empty, too long or not text."""
    if not answer.strip():
        raise BadInput("The answer is empty: paste the text whose claims should be checked.")
    for name, text in (("answer", answer), ("question", question)):
        if len(text) > settings.answer_limit:
            raise BadInput(
                f"The {name} has {len(text):,} characters, at most {settings.answer_limit:,} can be analysed: "
                "shorten it, or analyse it in parts."
            )
        strange = sum(unicodedata.category(c) == "Cc" and c not in "\n\r\t" for c in text) + text.count("\ufffd")
        if strange > max(2, len(text) // 50):
            raise BadInput(
                f"The {name} holds {strange} control characters: this is not text. Paste plain text or Markdown."
            )


def segment(question: str, answer: str, settings: Settings, stop: threading.Event | None = None) -> Segmented:
    """Segmentation alone; `stop` ends what asks a language model."""
    segmenter = build(SEGMENTERS, settings.segmenter, settings, "segmenter")
    if stop is not None and hasattr(segmenter, "llm"):
        segmenter.llm.stop = stop
    segmented: Segmented = segmenter.segment(question, answer)
    return segmented


def run(
    question: str,
    answer: str,
    settings: Settings,
    store: Store | None = None,
    documents: Sequence[Document] = (),
    stop: threading.Event | None = None,
    claims: Sequence[Claim] | None = None,
    frozen: Snapshot | None = None,
) -> Iterator[events.Event]:
    """Events of one run, the last one Finished with the report; `claims` stand in for the segmenter's.

    With a snapshot its pages are the only source: nothing is searched or fetched, whatever the settings name.

    BadInput or Unavailable before the first event; later, bad pages, searches and pairs become Failed events.
    A run that is stopped ends with what it has.
    """
    check_input(question, answer, settings)
    store = store or Store.open(settings.database_url)
    if frozen:
        store, sources = frozen.over(store), Sources()
    else:
        sources = open_sources(settings, documents, read_document, store)
    matcher = Matcher(settings, store, question, judged=frozen.judgements if frozen else ())
    return _Run(question, answer, settings, store, sources, matcher, stop or threading.Event(), claims, frozen).go()


class _Run:
    """One run while its events are read."""

    def __init__(
        self,
        question: str,
        answer: str,
        settings: Settings,
        store: Store,
        sources: Sources,
        matcher: Matcher,
        stop: threading.Event,
        claims: Sequence[Claim] | None = None,
        frozen: Snapshot | None = None,
    ) -> None:
        self.question, self.answer, self.settings, self.store = question, answer, settings, store
        self.sources, self.matcher, self.stop, self.given, self.frozen = sources, matcher, stop, claims, frozen
        self.found = RunRecord(question, answer, settings, frozen)
        self.kept = frozen.claims(question, answer, settings) if frozen else None
        self.tasks = tuple(t for t in llm_tasks(settings) if not self.kept and (t != "queries" or not frozen))
        self.asked = LlmAnnotator(settings, store, stop) if self.tasks else None

    def go(self) -> Iterator[events.Event]:
        if self.kept is None:
            yield from self._claims()
        else:
            self.found.claims = list(self.kept.claims)
            for failure in self.kept.failures:
                yield from self._failed(failure, ())
            yield events.ClaimsReady(self.kept.claims)
        checked = [c for c in self.found.claims if c.checked]
        for claim in self.found.claims:
            if not claim.checked:
                yield self._judged(claim, ())
        if checked:
            yield from self._gather(checked)
            yield from self._verify(checked)
        report = self.found.report(self.matcher, self.asked, self.kept is not None, self.stop.is_set())
        self.store.save_run(report, self.matcher.provenance(self.found.about), frozen=self.frozen is not None)
        yield events.Finished(report)

    def _claims(self) -> Iterator[events.Event]:
        yield events.StageStarted("segment")
        if failure := unsupported(self.answer, self.settings):
            yield from self._failed(failure, ())
        with self.found.timed("segment"):
            given = None if self.given is None else Segmented(tuple(self.given))
            segmented = given or segment(self.question, self.answer, self.settings, self.stop)
        self.found.claims, self.found.segmented = list(segmented.claims), segmented
        for failure in segmented.failures:
            yield from self._failed(failure, ())
        yield events.ClaimsReady(tuple(self.found.claims))
        yield events.StageStarted("worth")
        with self.found.timed("worth"):
            new = [c for c in self.found.claims if c.worthiness is None]  # what a person has edited stays as it is
            made, failures = self._judged_claims(new)
            judged = {c.id: c for c in made}
            self.found.claims = [judged.get(c.id, c) for c in self.found.claims]
        for failure in failures:
            yield from self._failed(failure, ())
        with self.found.timed("coherence"):
            self.found.claims = self._coherent(self.found.claims)
        yield events.ClaimsReady(tuple(self.found.claims))

    def _judged_claims(self, claims: list[Claim]) -> tuple[list[Claim], list[Failure]]:
        """Which are worth checking, which stand alone, what the others mean: by rules, or as a language model says."""
        failures: list[Failure] = []
        claims = worthiness.classify(claims)
        if self.asked and "worthiness" in self.tasks:
            claims, failed = self.asked.worthiness(self.question, claims)
            failures += failed
        claims = independence.check_independence(claims)
        if self.asked and "independence" in self.tasks:
            claims, failed = self.asked.independence(claims)
            failures += failed
        if self.asked and "enrichment" in self.tasks:
            claims, failed = self.asked.enrichment(self.question, self.answer, claims)
            return claims, failures + failed
        return enrichment.enrich(self.question, self.answer, claims), failures

    def _coherent(self, claims: list[Claim]) -> list[Claim]:
        """Always by the embedded model: what the answer says does not depend on who checks it."""
        judge = Judge(build(VERIFIERS, "embedded", self.settings, "verifier"), self.store)
        return coherence.check_coherence(self.answer, claims, judge.entailed, self.settings.coherence)

    def _gather(self, checked: list[Claim]) -> Iterator[events.Event]:
        """Search and download; a claim gets a first verdict when its own pages are there and others are not."""
        yield events.StageStarted("search")
        for failure in self.sources.failures:
            yield from self._failed(failure, [c.id for c in checked])
        for page in self.sources.pages:
            self.matcher.add(page)
            yield events.PageReady(page)
        by_id = {c.id: c for c in checked}
        written: dict[str, tuple[str, ...]] = {}
        if self.asked and "queries" in self.tasks and self.sources.searchers:
            with self.found.timed("queries"):
                written, failures = self.asked.queries(self.question, checked)
            for failure in failures:
                yield from self._failed(failure, ())
        fetch = Fetcher(self.settings, archive=partial(http_responses.save, self.store)).fetch
        gatherer = self.frozen or Gatherer(self.settings, self.store, self.sources, fetch, written)
        steps = gatherer.gather(checked, self.question, self.stop)
        while True:
            with self.found.timed("gather"):
                step = next(steps, None)
            if step is None:
                return
            self.found.searches += step.stage == "search"
            self.matcher.trace(step.traces)
            for failure in step.failures:
                yield from self._failed(failure, step.claim_ids)
            for page in step.pages:
                if self.matcher.add(page):
                    yield events.PageReady(page)
            yield events.Progress(step.stage, step.done, step.total)
            if isinstance(gatherer, Gatherer):
                self.found.spent = events.Spent(**gatherer.budget.spent, seconds=gatherer.budget.seconds)
                yield self.found.spent
            if step.stage == "fetch" and step.done < step.total:
                yield from self._match([by_id[c] for c in step.complete])

    def _verify(self, checked: list[Claim]) -> Iterator[events.Event]:
        """The verdicts that stand: every claim against the passages of all pages."""
        yield events.StageStarted("embed")
        with self.found.timed("embed"):
            self.matcher.settle()
        yield events.StageStarted("verify")
        for start in range(0, len(checked), GROUP):
            yield events.Progress("verify", start, len(checked))
            if self.stop.is_set():
                break
            yield from self._match(checked[start : start + GROUP])
        else:
            yield events.Progress("verify", len(checked), len(checked))
        for claim in checked:
            if claim.id not in self.found.verdicts:
                made = Verdict(claim_id=claim.id, label="missing", confidence=0.0, reason=UNREACHED)
                self.found.verdicts[claim.id] = made
                yield events.VerdictReady(made, ())

    def _match(self, claims: list[Claim]) -> Iterator[events.Event]:
        try:
            with self.found.timed("verify"):
                matched = self.matcher.match(claims)
        except BadInput as error:
            if len(claims) > 1:  # one claim that the verifier refuses costs only itself
                for claim in claims:
                    yield from self._match([claim])
                return
            failure = Failure(stage="verify", subject=claims[0].id, kind="verifier_failed", message=str(error))
            yield from self._failed(failure, [claims[0].id])
            matched = [()]
        for claim, evidence in zip(claims, matched, strict=True):
            yield self._judged(claim, evidence)

    def _judged(self, claim: Claim, evidence: tuple[Evidence, ...]) -> events.VerdictReady:
        self.found.evidence[claim.id] = evidence
        made = verdict(claim, evidence, self.found.about[claim.id])
        if claim.enriched and evidence and self.settings.without_added:
            alone = verdict(claim, self.matcher.without_added(claim, evidence)).label
            made = made.model_copy(update={"without_added": alone})
        self.found.verdicts[claim.id] = made
        return events.VerdictReady(made, evidence)

    def _failed(self, failure: Failure, claim_ids: Sequence[str]) -> Iterator[events.Event]:
        if self.found.failed(failure, claim_ids):
            yield events.Failed(failure)
