"""The order of the stages, and nothing else knows it: answer → claims → pages → evidence → verdicts."""

from __future__ import annotations

import threading
import time
import unicodedata
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from attribution import coherence, enrichment, events, independence, worthiness
from attribution.asked import Asked, chosen
from attribution.errors import BadInput
from attribution.fetching import Fetcher
from attribution.gathering import Gatherer
from attribution.matching import Judge, Matcher
from attribution.origins import with_origins
from attribution.registry import build
from attribution.searchers import INSTANCE, LOCAL, SEARCHERS
from attribution.searchers.documents import read_document
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.snapshots import Snapshot
from attribution.sources import Sources, open_sources
from attribution.store import Rates, Store, now
from attribution.types import (
    Claim,
    Document,
    Evidence,
    Failure,
    LlmUsage,
    Report,
    Segmented,
    Usage,
    Verdict,
    content_id,
)
from attribution.verdicts import verdict
from attribution.verifiers import VERIFIERS

VERSION = "1"  # of the pipeline: part of every report
GROUP = 4  # claims whose pairs are verified together
SECONDS_PER_PAIR, SECONDS_PER_PAGE = 0.03, {"local": 0.15, "web": 0.6}  # two cores; until a run was measured


@dataclass(frozen=True)
class Estimate:
    """What a run will take: claims in all and to be checked, pages at most, seconds."""

    claims: int  # sentences, where a language model is to segment
    checked: int
    pages: int
    seconds: float  # with the language model's where its pace was measured in an earlier run
    llm: Mapping[str, LlmUsage]  # by stage, at most; what the store knows costs nothing


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


def estimate(
    question: str, answer: str, settings: Settings, documents: Sequence[Document] = (), store: Store | None = None
) -> Estimate:
    """What `run` would take, without searching; with a store, at the pace of the last runs kept there."""
    check_input(question, answer, settings)
    segmenter = build(SEGMENTERS, settings.segmenter, settings, "segmenter")
    asking = hasattr(segmenter, "estimate")  # a language model; nothing is asked yet
    llm = {"segment": segmenter.estimate(question, answer)} if asking else {}
    cut = settings.model_copy(update={"segmenter": "sentences"}) if asking else settings
    claims = worthiness.judge(segment(question, answer, cut).claims)
    checked = sum(c.worthiness == "factual" for c in claims)
    if tasks := chosen(settings):
        by_rules = independence.judge(claims)
        asked = Asked(settings, store, threading.Event())
        llm |= {task: asked.estimate(task, question, answer, by_rules) for task in tasks}
    web = any(s == "web" or s.startswith(INSTANCE) or (s in SEARCHERS and s not in LOCAL) for s in settings.sources)
    own = len(documents) + sum("://" in s and not s.startswith(INSTANCE) for s in settings.sources)
    pages = own + (checked * settings.pages_per_claim if set(settings.sources) - {"documents"} else 0)
    pair, page, prompt = store.rates() if store else Rates()
    pace = SECONDS_PER_PAGE["web" if web else "local"] if page is None else page
    seconds = 1.0 + checked * settings.top_k * (SECONDS_PER_PAIR if pair is None else pair) + pages * pace
    seconds += sum(used.calls for used in llm.values()) * (prompt or 0.0) / settings.llm_workers
    return Estimate(len(claims), checked, pages, seconds, llm)


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


def new_run_id() -> str:
    """Not to be guessed: whoever knows it can open the run."""
    return content_id(uuid.uuid4().hex)


class _Run:
    """The state of one run while its events are read."""

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
        self.created_at = now()
        self.claims: list[Claim] = []
        self.segmented = Segmented(())
        self.evidence: dict[str, tuple[Evidence, ...]] = {}
        self.verdicts: dict[str, Verdict] = {}
        self.failures: list[Failure] = []
        self.about: dict[str, list[Failure]] = defaultdict(list)  # failures by claim
        self.timings: dict[str, float] = defaultdict(float)
        before = frozen.report.usage if frozen else Usage()
        self.searches = before.searches
        self.spent = events.Spent(before.queries, before.downloads, before.seconds)
        self.kept = frozen.claims(question, answer, settings) if frozen else None
        self.tasks = tuple(t for t in chosen(settings) if not self.kept and (t != "queries" or not frozen))
        self.asked = Asked(settings, store, stop) if self.tasks else None

    def _claims(self) -> Iterator[events.Event]:
        yield events.StageStarted("segment")
        with self._timed("segment"):
            segmented = (
                segment(self.question, self.answer, self.settings, self.stop)
                if self.given is None
                else Segmented(tuple(self.given))
            )
        self.claims, self.segmented = list(segmented.claims), segmented
        for failure in segmented.failures:
            yield from self._failed(failure, ())
        yield events.ClaimsReady(tuple(self.claims))
        yield events.StageStarted("worth")
        with self._timed("worth"):
            new = [c for c in self.claims if c.worthiness is None]  # what a person has edited stays as it is
            made, failures = self._judged_claims(new)
            judged = {c.id: c for c in made}
            self.claims = [judged.get(c.id, c) for c in self.claims]
        for failure in failures:
            yield from self._failed(failure, ())
        with self._timed("coherence"):
            self.claims = self._coherent(self.claims)
        yield events.ClaimsReady(tuple(self.claims))

    def go(self) -> Iterator[events.Event]:
        if self.kept is None:
            yield from self._claims()
        else:
            self.claims = list(self.kept.claims)
            for failure in self.kept.failures:
                yield from self._failed(failure, ())
            yield events.ClaimsReady(self.kept.claims)
        checked = [c for c in self.claims if c.checked]
        for claim in self.claims:
            if not claim.checked:
                yield self._judged(claim, ())
        if checked:
            yield from self._gather(checked)
            yield from self._verify(checked)
        report = self._report()
        self.store.save_run(report, self.matcher.trail(self.about), frozen=self.frozen is not None)
        yield events.Finished(report)

    def _judged_claims(self, claims: list[Claim]) -> tuple[list[Claim], list[Failure]]:
        """Which are worth checking, which stand alone, what the others mean: by rules, or as a language model says."""
        failures: list[Failure] = []
        claims = worthiness.judge(claims)
        if self.asked and "worthiness" in self.tasks:
            claims, failed = self.asked.worthiness(self.question, claims)
            failures += failed
        claims = independence.judge(claims)
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
        return coherence.judge(self.answer, claims, judge.entailed, self.settings.coherence)

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
            with self._timed("queries"):
                written, failures = self.asked.queries(self.question, checked)
            for failure in failures:
                yield from self._failed(failure, ())
        fetch = Fetcher(self.settings).fetch
        gatherer = self.frozen or Gatherer(self.settings, self.store, self.sources, fetch, written)
        steps = gatherer.gather(checked, self.question, self.stop)
        while True:
            with self._timed("gather"):
                step = next(steps, None)
            if step is None:
                return
            self.searches += step.stage == "search"
            self.matcher.trace(step.traces)
            for failure in step.failures:
                yield from self._failed(failure, step.claim_ids)
            for page in step.pages:
                if self.matcher.add(page):
                    yield events.PageReady(page)
            yield events.Progress(step.stage, step.done, step.total)
            if isinstance(gatherer, Gatherer):
                self.spent = events.Spent(**gatherer.budget.spent, seconds=gatherer.budget.seconds)
                yield self.spent
            if step.stage == "fetch" and step.done < step.total:
                yield from self._match([by_id[c] for c in step.complete])

    def _verify(self, checked: list[Claim]) -> Iterator[events.Event]:
        """The verdicts that stand: every claim against the passages of all pages."""
        yield events.StageStarted("embed")
        with self._timed("embed"):
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
            if claim.id not in self.verdicts:
                reason = "The run was stopped before this claim was checked."
                self.verdicts[claim.id] = Verdict(claim_id=claim.id, label="missing", confidence=0.0, reason=reason)
                yield events.VerdictReady(self.verdicts[claim.id], ())

    def _match(self, claims: list[Claim]) -> Iterator[events.Event]:
        try:
            with self._timed("verify"):
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
        self.evidence[claim.id] = evidence
        made = verdict(claim, evidence, self.about[claim.id])
        if claim.enriched and evidence and self.settings.without_added:
            alone = verdict(claim, self.matcher.without_added(claim, evidence)).label
            made = made.model_copy(update={"without_added": alone})
        self.verdicts[claim.id] = made
        return events.VerdictReady(self.verdicts[claim.id], evidence)

    def _failed(self, failure: Failure, claim_ids: Sequence[str]) -> Iterator[events.Event]:
        for claim_id in claim_ids:
            self.about[claim_id].append(failure)
        if failure not in self.failures:
            self.failures.append(failure)
            yield events.Failed(failure)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.timings[stage] += time.perf_counter() - started

    def _by_llm(self) -> tuple[dict[str, str], dict[str, LlmUsage]]:
        """Which wordings and models were asked, and what that cost, by stage; a replay keeps what it takes over."""
        versions: dict[str, str] = {}
        usage: dict[str, LlmUsage] = {}
        if self.frozen:
            then = self.frozen.report
            versions = {k: v for k, v in then.versions.items() if self.kept or k == "queries"}
            usage = {k: v for k, v in then.usage.llm.items() if self.kept or k == "queries"}
        if self.segmented.version:
            versions["segmenter"] = self.segmented.version
        if self.segmented.usage:
            usage["segment"] = self.segmented.usage
        if self.asked:
            versions |= self.asked.versions
            usage |= self.asked.usage
        return versions, usage

    def _report(self) -> Report:
        matcher = self.matcher
        wordings, llm = self._by_llm()
        versions = {
            **wordings,
            "pipeline": VERSION,
            "embedder": matcher.embedder.version,
            "verifier": matcher.judge.verifier.version,
        }
        settings = self.settings.public()
        usage = Usage(
            claims=len(self.claims),
            searches=self.searches,
            queries=self.spent.queries,
            downloads=self.spent.downloads,
            seconds=round(self.spent.seconds, 3),
            pages=len(matcher.pages),
            chunks=matcher.chunks,
            pairs=matcher.judge.pairs,
            cached_pairs=matcher.judge.cached_pairs,
            llm=llm,
        )
        return Report(
            id=new_run_id(),
            created_at=self.created_at,
            question=self.question,
            answer=self.answer,
            settings=settings,
            versions=versions,
            claims=tuple(self.claims),
            pages=with_origins(sorted(matcher.pages.values(), key=lambda p: (p.kind, p.url, p.id))),
            evidence=tuple(e for c in self.claims for e in self.evidence.get(c.id, ())),
            verdicts=tuple(self.verdicts[c.id] for c in self.claims if c.id in self.verdicts),
            failures=tuple(sorted(self.failures, key=lambda f: (f.stage, f.subject, f.kind, f.message))),
            timings={stage: round(seconds, 3) for stage, seconds in self.timings.items()},
            usage=usage,
            stopped=self.stop.is_set(),
        )
