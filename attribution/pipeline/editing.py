"""Apply edits to a finished run: only the claims that an edit opens are compared with the pages
again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress

from attribution import edits, events
from attribution.claims.enrichment import standalone_question
from attribution.errors import BadInput, LlmFailed, StageFailure, Stopped
from attribution.evidence.matching import Matcher
from attribution.evidence.sources import Sources, open_sources
from attribution.fetching.fetcher import fetch
from attribution.llm.endpoint import EndpointFailed
from attribution.models.engine import stoppable
from attribution.pipeline.changes import (
    Changed,
    apply,
    tidied,
    verdict_of,
    with_evidence,
    with_verdict,
)
from attribution.pipeline.claims import unmatched
from attribution.pipeline.run import live_sources
from attribution.policy import DecisionPolicy
from attribution.settings import Settings
from attribution.store.database import now
from attribution.store.runs import Outdated
from attribution.store.store import Store
from attribution.types import Claim, Document, Failure, LlmUsage, Page, Provenance, Report, Trace
from attribution.verdicts import beside, not_reached
from attribution.verifiers.calibration import GUARANTEES, graded_report

ADDED = "added by hand"
ATTEMPTS = 5  # to save a change, while others save theirs


def edit(
    report: Report,
    change: edits.Change,
    settings: Settings,
    store: Store,
    documents: Sequence[Document] = (),
    addresses: Sequence[str] = (),
    stop: threading.Event | None = None,
) -> Iterator[events.Event]:
    """Apply a change to a finished run, and save the run as a new version.

    A change that another tab or the API saves meanwhile is kept: this one is made again, of the
    run with that one. What was compared is in the cache by then.

    Args:
        report: The finished run. The version that the store shows is edited if it is newer.
        change: What to change.
        settings: The settings of the run.
        store: The database of the run, acting for its owner.
        documents: Documents to add for the claims that the change opens.
        addresses: Web addresses to add for them.
        stop: If it is set, there is no Finished, and the run stays as it was.

    Yields:
        The events of the edit, ending in Finished.

    Raises:
        BadInput: The change does not fit the run.
        NotYours: The store does not act for its owner.
    """
    yield events.StageStarted("verify")
    for _ in range(ATTEMPTS):
        version = store.runs.shown_version(report.id)
        shown = store.runs.load(report.id)
        if shown and shown.edits != report.edits:
            report = shown
        # the report of `attribution.check` writes other JSON than the store's
        report = Report(**dict(report))
        own_settings = settings.model_copy(update=DecisionPolicy.of(report.settings).as_settings())
        own_store = Store(store.database, owner=store.rights.owner)
        editing = _Editing(report, change, own_settings, own_store, stop or threading.Event())
        with suppress(Outdated):
            yield from editing.steps(documents, addresses, version)
            return
    raise BadInput("the run is being changed in other tabs all the time: try again later")


class _Editing:
    """One change, while its events are read."""

    def __init__(
        self,
        report: Report,
        change: edits.Change,
        settings: Settings,
        store: Store,
        stop: threading.Event,
    ) -> None:
        if isinstance(change, edits.Recheck):
            settings = settings.model_copy(update={"verifier": change.verifier})
        if isinstance(change, edits.AddEvidence) and change.sources:
            settings = settings.model_copy(update={"sources": change.sources})
        self.before, self.change, self.settings = report, change, settings
        self.store, self.stop = store, stop
        self.question = standalone_question(report.question, report.context)
        self.failures: list[Failure] = []
        self.concerns: dict[str, tuple[Failure, ...]] = {}
        self.added_pages: list[Page] = []
        self.traces: list[Trace] = []

    def steps(
        self, documents: Sequence[Document], addresses: Sequence[str], version: int
    ) -> Iterator[events.Event]:
        """Apply the change to this version of the run, compare the claims that it opens, and save
        the result.
        """
        changed = apply(self.before, self.change)
        report = changed.report
        provenance = self.store.runs.provenance(report.id) or Provenance()
        opened = [claim for claim in report.claims if claim.id in changed.open]
        self._read(opened, documents, addresses)
        if isinstance(self.change, edits.AddEvidence) and self.change.search:
            yield from self._search(opened)
        if opened and not self.stop.is_set():
            provenance = self._with_traces(provenance, changed)
            matcher = self._matcher(report, provenance)
            for done, claim in enumerate(opened):
                yield events.Progress("verify", done, len(opened))
                origins = changed.origins.get(claim.id, ())
                try:
                    with stoppable(self.stop):
                        report = self._compare(report, claim, origins, matcher)
                except Stopped:
                    return
            report = self._with_pages(report, matcher)
            report = self._with_versions(report, opened, matcher)
            provenance = _joined(provenance, matcher.provenance(self.concerns))
        if self.stop.is_set():
            return
        made = edits.Edit(
            at=now(), change=self.change, subject=changed.subject, claims=changed.claims
        )
        edited = report.model_copy(update={"edits": (*report.edits, made)})
        report = graded_report(tidied(edited))
        self.store.runs.save_edit(report, provenance, version)
        yield events.Finished(report)

    # --- pages ---

    def _read(
        self, opened: Sequence[Claim], documents: Sequence[Document], addresses: Sequence[str]
    ) -> None:
        """Add the pages of documents and addresses; those that cannot be read are failures of the
        opened claims.
        """
        settings = self.settings.model_copy(update={"sources": ("documents", *addresses)})
        sources = open_sources(settings, documents, self.store)
        pages = list(sources.pages)
        failures = list(sources.failures)
        for address in sources.addresses:
            try:
                pages.append(fetch(address, self.settings))
            except StageFailure as error:
                failures.append(error.as_failure("fetch", address))
        self.added_pages += pages
        self._fail(failures, [claim.id for claim in opened])
        for claim in opened:
            self.traces += [Trace(claim.id, page.id, "", ADDED, 1) for page in pages]

    def _search(self, opened: Sequence[Claim]) -> Iterator[events.Event]:
        """Search the sources for the opened claims alone."""
        searched = [claim for claim in opened if claim.checked]
        sources = open_sources(self.settings, (), self.store)
        if not searched or not sources.searchers:
            return
        # without documents and addresses, which the run has already
        searchers = Sources(sources.searchers, sources.fallback)
        yield events.StageStarted("search")
        live = live_sources(self.settings, self.store, searchers, self.stop)
        for step in live.gather(searched, self.question, self.stop):
            self.added_pages += step.pages
            self.traces += step.traces
            self._fail(step.failures, step.claim_ids)
            yield events.Progress(step.stage, step.done, step.total)
        yield events.StageStarted("verify")

    def _fail(self, failures: Sequence[Failure], claim_ids: Sequence[str]) -> None:
        self.failures += failures
        for claim_id in claim_ids:
            self.concerns[claim_id] = (*self.concerns.get(claim_id, ()), *failures)

    # --- verdicts ---

    def _matcher(self, report: Report, provenance: Provenance) -> Matcher:
        matcher = Matcher(self.settings, self.store, self.question, answer=report.answer)
        for page in (*report.pages, *self.added_pages):
            matcher.add(page)
        matcher.trace(provenance.traces)
        return matcher

    def _compare(
        self, report: Report, claim: Claim, origins: Sequence[str], matcher: Matcher
    ) -> Report:
        """Compare an opened claim with the pages."""
        if not claim.checked:
            return with_evidence(report, claim, origins, ())
        reason = unmatched(report.answer, self.settings, matcher.pages.values())
        if reason:
            return with_verdict(report, not_reached(claim, reason), ())
        if isinstance(self.change, edits.Recheck):
            return self._recheck(report, claim, matcher)
        (evidence,) = matcher.match([claim])
        return with_evidence(report, claim, origins, evidence, self.concerns.get(claim.id, ()))

    def _recheck(self, report: Report, claim: Claim, matcher: Matcher) -> Report:
        """Let the second verifier decide a claim if it supports or contradicts it; both verdicts
        are kept.
        """
        first = verdict_of(report, claim)
        try:
            (evidence,) = matcher.match([claim])
        except EndpointFailed:
            raise
        except (BadInput, LlmFailed) as error:
            self._fail([_unread(claim, error)], [claim.id])
            return report
        rechecked = with_evidence(report, claim, (), evidence)
        second = verdict_of(rechecked, claim)
        if first is None or second is None:
            return rechecked
        if second.label in GUARANTEES:
            pieces = [e for e in rechecked.evidence if e.claim_id == claim.id]
            return with_verdict(rechecked, beside(second, first, "first"), pieces)
        pieces = [e for e in report.evidence if e.claim_id == claim.id]
        return with_verdict(report, beside(first, second, "second"), pieces)

    def _with_pages(self, report: Report, matcher: Matcher) -> Report:
        new_failures = [f for f in dict.fromkeys(self.failures) if f not in report.failures]
        report = report.model_copy(update={"failures": (*report.failures, *new_failures)})
        if len(matcher.pages) == len(report.pages):
            return report
        pages = sorted(matcher.marked.values(), key=lambda page: (page.kind, page.url, page.id))
        return report.model_copy(update={"pages": tuple(pages)})

    def _with_versions(self, report: Report, opened: Sequence[Claim], matcher: Matcher) -> Report:
        """Record a second verifier, its use of a language model, and as `verifier:CLAIM` each claim
        that it decided.
        """
        names = {f"verifier:{claim.id}": claim for claim in opened}
        if not isinstance(self.change, edits.Recheck):
            versions = {k: v for k, v in report.versions.items() if k not in names}
            return report.model_copy(update={"versions": versions})
        versions = report.versions | {"second_verifier": matcher.verifier.version}
        for name, claim in names.items():
            verdict = verdict_of(report, claim)
            if verdict and verdict.other and verdict.other.reader == "first":
                versions[name] = matcher.verifier.version
        llm = dict(report.usage.llm)
        if matcher.verifier.usage:
            llm["second"] = matcher.verifier.usage + llm.get("second", LlmUsage())
        usage = report.usage.model_copy(update={"llm": llm})
        return report.model_copy(update={"versions": versions, "usage": usage})

    def _with_traces(self, provenance: Provenance, changed: Changed) -> Provenance:
        """Add the traces of new pages, and those of a claim's origins as its own."""
        traces = [*provenance.traces, *self.traces]
        for claim_id, origins in changed.origins.items():
            inherited = [trace for trace in traces if trace.claim_id in origins]
            for trace in inherited:
                own = Trace(claim_id, trace.page_id, trace.query, trace.searcher, trace.rank)
                traces.append(own)
        return provenance.model_copy(update={"traces": tuple(dict.fromkeys(traces))})


def _unread(claim: Claim, error: BadInput | LlmFailed) -> Failure:
    return Failure(
        stage="second",
        subject=claim.id,
        kind="verifier_failed",
        message=f"{error}; the first verdict stays",
        detail=error.detail,
    )


def _joined(earlier: Provenance, later: Provenance) -> Provenance:
    """Join how the evidence was found: of the claims that stayed and of those compared again."""
    return Provenance(traces=later.traces, concerns={**earlier.concerns, **later.concerns})
