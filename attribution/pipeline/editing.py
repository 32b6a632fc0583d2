"""Apply edits to a finished run: only the claims that an edit opens are compared with the pages
again.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress

from attribution import edits, events
from attribution.claims.enrichment import standalone_question, transcript
from attribution.claims.llm_annotation import LlmAnnotator, llm_tasks
from attribution.errors import BadInput, StageFailure
from attribution.evidence.gathering import LiveSources
from attribution.evidence.matching import Matcher
from attribution.evidence.sources import Sources, open_sources, source_names
from attribution.fetching.fetcher import Fetcher, fetch
from attribution.models.engine import stoppable
from attribution.pipeline.changes import (
    Changed,
    apply,
    tidied,
    with_claims,
    with_found,
    with_verdict,
)
from attribution.pipeline.claims import annotate, check_coherence, segment, unmatched
from attribution.pipeline.second_reader import SecondReader, doubts_of, left_out, second_versions
from attribution.policy import DecisionPolicy
from attribution.provenance import Provenance, Trace
from attribution.settings import Settings
from attribution.store.database import now
from attribution.store.runs import Outdated
from attribution.store.store import Store
from attribution.text.marks import without_names
from attribution.types import Claim, Document, Failure, LlmUsage, Page, Report
from attribution.verdicts import beside, not_reached
from attribution.verifiers import VERIFIERS
from attribution.verifiers.calibration import graded_report

ADDED = "added by hand"
ATTEMPTS = 5  # to save a change, while others save theirs


def depends_on_question(report: Report) -> list[Claim]:
    """Return the claims whose wording or passages depend on the question; the others stand alone."""
    return [c for c in report.claims if c.checked and not c.independent]


def edit(
    report: Report,
    change: edits.Change,
    settings: Settings,
    store: Store,
    documents: Sequence[Document] = (),
    addresses: Sequence[str] = (),
    stop: threading.Event | None = None,
) -> Iterator[events.Event]:
    """Yield the events of a change to a finished run, ending in Finished with the report saved as a
    new version.

    `settings` are those of the run. Documents and addresses are added to its pages, for the claims
    that the change
    opens. Nothing is fetched for other claims, and without `search` nothing is searched. If `stop`
    is set, there is no
    Finished and the run stays as it was. Raises BadInput for a change that does not fit the run,
    and NotYours if the
    store does not act for its owner.

    A change that another tab or the API saves meanwhile is kept: this one is made again, of the run
    with that one. What
    was compared is in the cache by then.
    """
    yield events.StageStarted("verify")
    for _ in range(ATTEMPTS):
        number = store.runs.shown_version(report.id)
        shown = store.runs.load(report.id)
        # that of `attribution.check` writes another JSON than the store's
        report = shown if shown and shown.edits != report.edits else Report(**dict(report))
        own = settings.model_copy(update=DecisionPolicy.of(report.settings).as_settings())
        fresh = Store(store.database, store.rights.by)
        with suppress(Outdated):
            yield from _Editing(report, change, own, fresh, stop or threading.Event(), number).go(
                documents, addresses
            )
            return
    raise BadInput(
        "the run is being changed in other tabs all the time: try again when they are done"
    )


class _Editing:
    """One change, while its events are read."""

    def __init__(
        self,
        report: Report,
        change: edits.Change,
        settings: Settings,
        store: Store,
        stop: threading.Event,
        number: int,
    ) -> None:
        """`number` is that of the version which the report is."""
        if isinstance(change, edits.CheckAgain):
            other = {"verifier": change.verifier, "sources": change.sources}
            settings = settings.model_copy(
                update={name: value for name, value in other.items() if value}
            )
        if isinstance(change, edits.ReadAgain):
            settings = settings.model_copy(update={"second_reader": change.reader})
        self.before, self.change, self.settings, self.store, self.stop = (
            report,
            change,
            settings,
            store,
            stop,
        )
        self.answer = without_names(
            report.answer, source_names(settings.sources, pages=report.pages)
        )
        self.number = number
        self.failures: list[Failure] = []
        self.concerns: dict[str, tuple[Failure, ...]] = {}
        self.added: list[Page] = []
        self.traces: list[Trace] = []
        self.spent = events.Spent()

    def go(self, documents: Sequence[Document], addresses: Sequence[str]) -> Iterator[events.Event]:
        self.store.rights.check_change(self.before.id)
        changed = self._changed()
        report = changed.report
        earlier = self.store.runs.provenance(report.id) or Provenance()
        opened = [c for c in report.claims if c.id in changed.open]
        if isinstance(self.change, edits.ReadAgain):
            report = yield from self._read_again(report)
        self._add(opened, documents, addresses)
        if getattr(self.change, "search", False):
            yield from self._search(opened, standalone_question(report.question, report.context))
        provenance = self._provenance(earlier, changed)
        if opened and not self.stop.is_set():
            matcher = Matcher(
                self.settings,
                self.store,
                standalone_question(report.question, report.context),
                answer=report.answer,
            )
            for page in (*report.pages, *self.added):
                matcher.add(page)
            matcher.trace(provenance.traces)
            for done, claim in enumerate(opened):
                yield events.Progress("verify", done, len(opened))
                if self.stop.is_set():
                    return
                report = self._checked(report, claim, matcher, changed.origins.get(claim.id, ()))
            report = self._with_verifier(self._with_pages(report, matcher), opened)
            provenance = _joined(provenance, matcher.provenance(self.concerns))
        if self.stop.is_set():
            return
        made = edits.Edit(
            at=now(), change=self.change, subject=changed.subject, claims=changed.claims
        )
        report = graded_report(tidied(report.model_copy(update={"edits": (*report.edits, made)})))
        self.store.runs.save_edit(report, provenance, self.number)
        yield events.Finished(report)

    def _changed(self) -> Changed:
        if isinstance(self.change, edits.ChangeQuestion):
            return self._other_question(self.change.question)
        if isinstance(self.change, edits.ReadAgain):
            return Changed(self.before)
        if isinstance(self.change, edits.Resegment):
            return self._other_claims(self.change.segmenter)
        return apply(self.before, self.change)

    # --- changes that need models ---

    def _read_again(self, report: Report) -> Generator[events.Event, None, Report]:
        """Read the doubtful claims a second time, over the passages that the run has."""
        own = self.settings
        second = SecondReader(own, self.store, {page.id: page for page in report.pages})
        found = doubts_of(report)
        yield events.StageStarted("second")
        done = 0
        with stoppable(self.stop):
            for some in second.read(found):
                done += len(some)
                yield events.Progress("second", done, min(len(found), own.second_claims))
                for read in some:
                    if read.failure:
                        self._fail([read.failure], [read.claim.id])
                    else:
                        report = with_verdict(report, read.verdict, read.evidence)
        self._fail([failure] if (failure := left_out(found, own)) else [], [])
        if not found:
            return report
        used = (
            {"second": second.usage + report.usage.llm.get("second", LlmUsage())}
            if second.usage
            else {}
        )
        usage = report.usage.model_copy(update={"llm": {**report.usage.llm, **used}})
        failures = (
            *report.failures,
            *(f for f in dict.fromkeys(self.failures) if f not in report.failures),
        )
        versions = report.versions | second_versions(report.verdicts, second.version)
        return report.model_copy(
            update={"usage": usage, "failures": failures, "versions": versions}
        )

    def _other_question(self, question: str) -> Changed:
        """Reword and compare again only the claims that depend on the question; the segmentation
        stays.
        """
        question = " ".join(question.split())
        report = self.before.model_copy(update={"question": question})
        leaning = depends_on_question(self.before)
        bare = [c.model_copy(update={"enriched": None}) for c in leaning]
        worded = {c.id: c for c in self._annotated(question, bare, ("enrichment",))}
        claims = [worded.get(c.id, c) for c in report.claims]
        remaining = with_claims(report, [c for c in report.claims if c.id not in worded])
        opened = remaining.model_copy(update={"claims": tuple(claims)})
        return Changed(opened, tuple(worded), {}, self.before.question, tuple(worded))

    def _other_claims(self, segmenter: str) -> Changed:
        """Segment again. Claims that stay the same keep their verdicts, pinned ones stay, dropped
        ones stay away.
        """
        before, settings = self.before, self.settings.model_copy(update={"segmenter": segmenter})
        segmented = segment(
            transcript(before.question, before.context), self.answer, settings, self.stop
        )
        self.failures += segmented.failures
        known = {c.id: c for c in before.claims}
        aside = {c.id for c in before.set_aside.claims} if before.set_aside else set()
        pinned = [c for c in before.claims if c.pinned]
        wanted = [
            c for c in segmented.claims if c.id not in aside and c.id not in {p.id for p in pinned}
        ]
        fresh = self._annotated(
            before.question, [c for c in wanted if c.id not in known], llm_tasks(settings)
        )
        fresh, unread = check_coherence(self.answer, fresh, settings, self.store, self.stop)
        self.failures += unread
        new = {c.id: c for c in fresh}
        claims = (*pinned, *(new.get(c.id) or known[c.id] for c in wanted))
        report = with_claims(before, [c for c in claims if c.id in known]).model_copy(
            update={"claims": claims}
        )
        report = report.model_copy(update={"settings": {**report.settings, "segmenter": segmenter}})
        return Changed(report, tuple(new), {}, "", tuple(new))

    def _annotated(
        self, question: str, claims: Sequence[Claim], tasks: Sequence[str]
    ) -> list[Claim]:
        own = [task for task in llm_tasks(self.settings) if task in tasks and task != "queries"]
        annotator = LlmAnnotator(self.settings, self.store, self.stop) if own else None
        annotated, failures = annotate(
            question, self.answer, claims, own, annotator, self.before.context, self.stop
        )
        self.failures += failures
        return annotated

    # --- pages ---

    def _add(
        self, opened: Sequence[Claim], documents: Sequence[Document], addresses: Sequence[str]
    ) -> None:
        """Add the pages of documents and addresses; those that cannot be read are failures of the
        opened claims.
        """
        own = self.settings.model_copy(update={"sources": ("documents", *addresses)})
        sources = open_sources(own, documents, self.store)
        self.added += sources.pages
        failures = list(sources.failures)
        for address in sources.addresses:
            try:
                self.added.append(fetch(address, self.settings))
            except StageFailure as error:
                failures.append(error.as_failure("fetch", address))
        self._fail(failures, [c.id for c in opened])
        self.traces += [Trace(c.id, page.id, "", ADDED, 1) for c in opened for page in self.added]

    def _search(self, opened: Sequence[Claim], question: str) -> Iterator[events.Event]:
        """Search the run's own sources, for the opened claims alone."""
        searched = [c for c in opened if c.checked]
        sources = open_sources(self.settings, (), self.store)
        if not searched or not sources.searchers:
            return
        own = Sources(
            sources.searchers, sources.fallback
        )  # the run has its documents and addresses already
        fetch_page = Fetcher(self.settings).fetch
        annotator = (
            LlmAnnotator(self.settings, self.store, self.stop)
            if "queries" in llm_tasks(self.settings)
            else None
        )
        yield events.StageStarted("search")
        live = LiveSources(self.settings, self.store, own, fetch_page, annotator)
        for step in live.gather(searched, question, self.stop):
            self.spent = step.spent
            self.added += step.pages
            self.traces += step.traces
            self._fail(step.failures, step.claim_ids)
            yield events.Progress(step.stage, step.done, step.total)
        yield events.StageStarted("verify")

    def _fail(self, failures: Sequence[Failure], claim_ids: Sequence[str]) -> None:
        self.failures += failures
        for claim_id in claim_ids:
            self.concerns[claim_id] = (*self.concerns.get(claim_id, ()), *failures)

    # --- verdicts ---

    def _checked(
        self, report: Report, claim: Claim, matcher: Matcher, origins: Sequence[str]
    ) -> Report:
        if claim.checked and (
            reason := unmatched(report.answer, self.settings, matcher.pages.values())
        ):
            return with_verdict(report, not_reached(claim, reason), ())
        (evidence,) = matcher.match([claim]) if claim.checked else ((),)
        report = with_found(report, claim, origins, evidence, self.concerns.get(claim.id, ()))
        first = next((v for v in self.before.verdicts if v.claim_id == claim.id), None)
        if (
            first is None
            or not isinstance(self.change, edits.CheckAgain)
            or not self.change.verifier
        ):
            return report
        verdicts = tuple(beside(v, first) if v.claim_id == claim.id else v for v in report.verdicts)
        return report.model_copy(update={"verdicts": verdicts})

    def _with_pages(self, report: Report, matcher: Matcher) -> Report:
        failures = (
            *report.failures,
            *(f for f in dict.fromkeys(self.failures) if f not in report.failures),
        )
        if len(matcher.pages) == len(report.pages) and not self.spent.searches:
            return report.model_copy(update={"failures": failures})
        pages = sorted(matcher.marked.values(), key=lambda p: (p.kind, p.url, p.id))
        usage = report.usage
        used = {
            name: getattr(usage, name) + getattr(self.spent, name)
            for name in ("searches", "queries", "downloads")
        }
        usage = usage.model_copy(update=used | {"pages": len(pages), "chunks": matcher.chunks})
        return report.model_copy(
            update={"pages": tuple(pages), "usage": usage, "failures": failures}
        )

    def _with_verifier(self, report: Report, opened: Sequence[Claim]) -> Report:
        """Record the verifier of the opened claims, as `verifier:CLAIM` in the versions, if it is
        not the run's.
        """
        versions = {
            name: value
            for name, value in report.versions.items()
            if name not in map(_own_verifier, opened)
        }
        if isinstance(self.change, edits.CheckAgain) and self.change.verifier:
            version = VERIFIERS.build(self.settings.verifier, self.settings).version
            versions |= {_own_verifier(claim): version for claim in opened}
        return report.model_copy(update={"versions": versions})

    def _provenance(self, earlier: Provenance, changed: Changed) -> Provenance:
        """Return the provenance of the run, with the traces of a claim's origins as its own."""
        traces = dict.fromkeys((*earlier.traces, *self.traces))
        for claim_id, origins in changed.origins.items():
            for trace in tuple(traces):
                if trace.claim_id in origins:
                    traces[
                        Trace(claim_id, trace.page_id, trace.query, trace.searcher, trace.rank)
                    ] = None
        return earlier.model_copy(update={"traces": tuple(traces)})


def _own_verifier(claim: Claim) -> str:
    return f"verifier:{claim.id}"


def _joined(earlier: Provenance, later: Provenance) -> Provenance:
    """Join what a replay of the edited run needs: for the claims that stayed and those compared
    again.
    """
    return Provenance(
        traces=later.traces,
        concerns={**earlier.concerns, **later.concerns},
        chunks={**earlier.chunks, **later.chunks},
        vectors=tuple(sorted({*earlier.vectors, *later.vectors})),
        judgements=tuple(sorted({*earlier.judgements, *later.judgements})),
    )
