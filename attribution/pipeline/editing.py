"""Apply edits to a finished run: only the claims that an edit opens are compared with the pages
again.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from attribution import edits, events
from attribution.claims.enrichment import standalone_question
from attribution.errors import BadInput, LlmFailed, Stopped
from attribution.evidence.matching import Matcher
from attribution.evidence.sources import open_sources
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
from attribution.settings import Settings
from attribution.store.database import now
from attribution.store.runs import Outdated
from attribution.store.store import Store
from attribution.types import Claim, Document, Failure, LlmUsage, Provenance, Report, Trace
from attribution.verdicts import DecisionPolicy, beside, missing
from attribution.verifiers.calibration import GUARANTEES, graded_report

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
        BadInput: The change does not fit the run, or none of its sources could be read.
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
        editing = _Editing(
            report,
            version,
            change,
            _settings_of(report, change, settings),
            Store(store.database, owner=store.rights.owner),
            documents,
            addresses,
            stop or threading.Event(),
        )
        try:
            yield from editing.steps()
        except Outdated:
            continue
        return
    raise BadInput("the run is being changed in other tabs all the time: try again later")


def _settings_of(report: Report, change: edits.Change, settings: Settings) -> Settings:
    """Return the settings with the policy of the run, and what the change chooses."""
    chosen = DecisionPolicy.of(report.settings).as_settings()
    if isinstance(change, edits.Recheck):
        chosen["verifier"] = change.verifier
    if isinstance(change, edits.AddEvidence) and change.sources:
        chosen["sources"] = change.sources
    return settings.model_copy(update=chosen)


@dataclass
class _Editing:
    """One change of a version of a run, while its events are read."""

    before: Report
    version: int
    change: edits.Change
    settings: Settings
    store: Store
    documents: Sequence[Document]
    addresses: Sequence[str]
    stop: threading.Event

    def __post_init__(self) -> None:
        self.question = standalone_question(self.before.question, self.before.context)
        self.failures: list[Failure] = []
        self.concerns: dict[str, list[Failure]] = defaultdict(list)  # failures by claim

    def steps(self) -> Iterator[events.Event]:
        """Apply the change, compare the claims that it opens, and save the result."""
        changed = apply(self.before, self.change)
        report = changed.report
        provenance = self.store.runs.provenance(report.id)
        if changed.open:
            matcher = self._matcher(report, _inherited(provenance.traces, changed))
            opened = [claim for claim in report.claims if claim.id in changed.open]
            yield from self._gather(matcher, opened)
            for done, claim in enumerate(opened):
                yield events.Progress("verify", done, len(opened))
                try:
                    with stoppable(self.stop):
                        report = self._compare(report, claim, changed.origins, matcher)
                except Stopped:
                    return
            report = self._with_pages(report, matcher)
            report = self._with_versions(report, opened, matcher)
            later = matcher.provenance(self.concerns)
            concerns = {**provenance.concerns, **later.concerns}
            provenance = Provenance(traces=later.traces, concerns=concerns)
        if self.stop.is_set():
            return
        made = edits.Edit(
            at=now(),
            change=self.change,
            subject=changed.subject,
            claims=changed.claims,
        )
        edited = report.model_copy(update={"edits": (*report.edits, made)})
        report = graded_report(tidied(edited))
        self.store.runs.save_edit(report, provenance, self.version)
        yield events.Finished(report)

    def _matcher(self, report: Report, traces: Iterable[Trace]) -> Matcher:
        """Return what finds and judges passages in the pages of the report."""
        matcher = Matcher(self.settings, self.store, self.question, report.answer)
        for page in report.pages:
            matcher.add(page)
        matcher.trace(traces)
        return matcher

    def _gather(self, matcher: Matcher, opened: Sequence[Claim]) -> Iterator[events.Event]:
        """Read documents and addresses for the opened claims, and search for them if asked to."""
        is_search = isinstance(self.change, edits.AddEvidence) and self.change.search
        if not (self.documents or self.addresses or is_search):
            return
        names = self.settings.sources if is_search else ("documents",)
        settings = self.settings.model_copy(update={"sources": names})
        sources = open_sources(settings, self.documents, self.store)
        sources.addresses = list(self.addresses)  # the run has read its own
        yield events.StageStarted("search")
        live = live_sources(settings, self.store, sources)
        for step in live.gather(opened, self.question, self.stop):
            for page in step.pages:
                matcher.add(page)
            matcher.trace(step.traces)
            self._fail(step.failures, step.claim_ids)
            yield events.Progress(step.stage, step.done, step.total)
        if self.failures and not is_search and len(matcher.pages) == len(self.before.pages):
            raise BadInput("; ".join(failure.message for failure in self.failures))
        yield events.StageStarted("verify")

    def _fail(self, failures: Sequence[Failure], claim_ids: Sequence[str]) -> None:
        self.failures += failures
        for claim_id in claim_ids:
            self.concerns[claim_id] += failures

    def _compare(
        self, report: Report, claim: Claim, origins: Sequence[str], matcher: Matcher
    ) -> Report:
        """Compare an opened claim with the pages.

        Returns:
            The report with the verdict on the claim and its evidence.
        """
        reason = unmatched(report.answer, self.settings, matcher.pages.values())
        if reason:
            return with_verdict(report, missing(claim, reason), ())
        if isinstance(self.change, edits.Recheck):
            return self._recheck(report, claim, matcher)
        (evidence,) = matcher.match([claim])
        return with_evidence(report, claim, origins, evidence, self.concerns[claim.id])

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
        if second.label in GUARANTEES:
            verdict = beside(second, first, "first")
            return with_verdict(rechecked, verdict, rechecked.evidence_of(claim.id))
        verdict = beside(first, second, "second")
        return with_verdict(report, verdict, report.evidence_of(claim.id))

    def _with_pages(self, report: Report, matcher: Matcher) -> Report:
        """Add the pages and failures of this edit."""
        failures = dict.fromkeys((*report.failures, *self.failures))
        report = report.model_copy(update={"failures": tuple(failures)})
        if len(matcher.pages) == len(report.pages):
            return report
        pages = sorted(matcher.marked.values(), key=lambda page: (page.kind, page.url, page.id))
        return report.model_copy(update={"pages": tuple(pages)})

    def _with_versions(self, report: Report, opened: Sequence[Claim], matcher: Matcher) -> Report:
        """Record the use of a language model and, as `verifier:CLAIM`, the second verifier of each
        claim that it decided.
        """
        versions = dict(report.versions)
        for claim in opened:
            name = f"verifier:{claim.id}"
            versions.pop(name, None)
            other = verdict_of(report, claim).other
            if other and other.reader == "first":
                versions[name] = matcher.verifier.version
        llm = dict(report.usage.llm)
        if matcher.verifier.usage:
            stage = "second" if isinstance(self.change, edits.Recheck) else "verify"
            llm[stage] = matcher.verifier.usage + llm.get(stage, LlmUsage())
        usage = report.usage.model_copy(update={"llm": llm})
        return report.model_copy(update={"versions": versions, "usage": usage})


def _inherited(traces: Sequence[Trace], changed: Changed) -> Iterator[Trace]:
    """Yield the traces, and those of replaced claims once more for each new claim."""
    yield from traces
    for trace in traces:
        if trace.claim_id in changed.origins:
            for claim_id in changed.open:
                yield replace(trace, claim_id=claim_id)


def _unread(claim: Claim, error: BadInput | LlmFailed) -> Failure:
    return Failure(
        stage="second",
        subject=claim.id,
        kind="verifier_failed",
        message=f"{error}; the first verdict stays",
        detail=error.detail,
    )
