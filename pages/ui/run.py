"""Start, follow, stop and continue a run."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from attribution.edits import Change, Judge
from attribution.errors import AttributionError, BadInput, NotYours
from attribution.events import (
    ClaimsReady,
    Event,
    Failed,
    Finished,
    PageReady,
    Progress,
    Queued,
    RunStarted,
    Spent,
    StageStarted,
    VerdictReady,
)
from attribution.provenance import Provenance
from attribution.settings import Settings
from attribution.store.runs import RunInputs
from attribution.types import Document, Report, Turn
from attribution.verifiers import with_policy
from pages.ui import background, choices, state
from pages.ui.answer_view import View
from pages.ui.choices import explain
from pages.ui.files import keep_pdf
from pages.ui.job_page import JobPage
from pages.ui.state import saved, store, unowned_store

Run = Callable[[str, str, Settings, Sequence[Document], threading.Event], Iterator[Event]]


@dataclass(frozen=True)
class RunProgress(background.JobProgress):
    """A run at one moment."""

    report: Report
    key: str = ""  # of the run in this session
    version: int = 0  # of its claims and verdicts, which take long to draw
    accepted: bool = False  # the first event has come
    stage: str = ""
    units: dict[str, tuple[int, int]] = field(default_factory=dict)  # done and total by stage
    rejected: str = ""  # why the input cannot be checked
    documents: tuple[Document, ...] = ()  # that it is checked against
    unfinished: bool = False  # it was interrupted and can be continued


E = TypeVar("E")
R = TypeVar("R", bound=RunProgress)


class RunJob(background.Job[RunProgress]):
    """One run. `before` is the run that it continues or edits, which is shown until there is
    something new.
    """

    def __init__(
        self,
        question: str,
        answer: str,
        settings: Settings,
        documents: Sequence[Document],
        run: Run,
        before: RunProgress | None = None,
        lasting: bool = True,
    ) -> None:
        def work(stop: threading.Event, update: Callable[..., RunProgress]) -> None:
            def started(event: Event) -> None:
                if isinstance(event, RunStarted):
                    background.register(event.run_id, self)
                elif isinstance(event, PageReady):
                    keep_pdf(self.progress().report.id, event.page, documents)

            follow(run(question, answer, settings, documents, stop), initial, update, started)

        initial = (
            RunProgress(
                before.report,
                before.key,
                before.version,
                accepted=True,
                documents=before.documents,
                unfinished=before.unfinished,
            )
            if before
            else RunProgress(
                blank(question, answer, settings), secrets.token_hex(6), documents=tuple(documents)
            )
        )
        super().__init__("run", initial, work, lasting=lasting)


def blank(question: str, answer: str, settings: Settings) -> Report:
    """Return a report without results."""
    return Report(
        id="",
        created_at="",
        question=question,
        answer=answer,
        settings=with_policy(settings).public(),
        versions={},
    )


def follow(
    events: Iterable[E],
    now: R,
    update: Callable[..., R],
    own: Callable[[E], Mapping[str, object] | None] = lambda event: None,
) -> None:
    """Bring the progress up to date with each event; `own` returns the changes of events that are
    not of a run.
    """
    try:
        for event in events:
            changes = own(event)
            now = update(**(_changes(now, event) if changes is None else changes))  # type: ignore[arg-type]
    except BadInput as error:
        rejected, detail = explain(error)
        update(rejected=rejected, detail=detail)


def _changes(now: RunProgress, event: Event) -> dict[str, object]:
    """Return the fields of the progress that an event changes."""
    changes: dict[str, object] = {"accepted": True}
    if isinstance(event, ClaimsReady | VerdictReady | Finished):
        changes["version"] = now.version + 1
    report = now.report
    match event:
        case Queued(place):
            return {"stage": "queue", "units": {"queue": (place, 0)}}
        case RunStarted(run_id):
            new: dict[str, object] = {"id": run_id}
        case StageStarted(stage):
            return changes | {"stage": stage}
        case Progress(stage, done, total):
            return changes | {"stage": stage, "units": {**now.units, stage: (done, total)}}
        case Finished(report):
            return changes | {"report": report, "unfinished": False}
        case Spent(queries, downloads, seconds):
            used = {"queries": queries, "downloads": downloads, "seconds": seconds}
            new = {"usage": report.usage.model_copy(update=used)}
        case ClaimsReady(claims):
            new = {"claims": claims}
        case PageReady(page):
            new = {"pages": (*report.pages, page)}
        case Failed(failure):
            new = {"failures": (*report.failures, failure)}
        case VerdictReady(verdict, evidence):
            verdicts = {v.claim_id: v for v in report.verdicts} | {verdict.claim_id: verdict}
            others = [e for e in report.evidence if e.claim_id != verdict.claim_id]
            order = {claim.id: place for place, claim in enumerate(report.claims)}
            new = {
                "verdicts": tuple(verdicts[i] for i in order if i in verdicts),
                "evidence": tuple(
                    sorted(
                        (e for e in (*others, *evidence) if e.claim_id in order),
                        key=lambda e: order[e.claim_id],
                    )
                ),
            }
    return changes | {"report": report.model_copy(update=new)}


@cache
def preload() -> background.Job[background.Computation[None]]:
    """Load what a first run would wait for, once per process, while a visitor reads."""

    def load_models() -> None:
        from attribution.pipeline.warmup import warm_up

        warm_up(Settings.from_environment(), unowned_store())

    return background.compute("models", load_models)


if TYPE_CHECKING:
    from attribution.pipeline.estimate import Estimate  # imports spaCy

ESTIMATE, VIEW = "estimate", "view"
RUN = JobPage[RunProgress]("run", "run")
is_running = RUN.is_running


def load(run_id: str) -> None:
    """Show a saved run, or one in progress, and fill in its form."""
    reason = _hidden(run_id)
    report = inputs = None
    if reason:
        pass
    elif job := RUN.follow(run_id):
        choices.restore(job.progress().report)
        return
    else:
        report, reason = saved(lambda database: database.runs.load(run_id))
        inputs = None if report else saved(lambda database: database.runs.inputs(run_id))[0]
    if report:
        choices.restore(report)
        RUN.show(
            RunProgress(
                report, report.id, accepted=True, running=False, documents=choices.documents()
            )
        )
        return
    if inputs and not inputs.finished:
        reason = ""
        report = store().runs.load_unfinished(run_id) or _unstarted(run_id, inputs)
        choices.restore(report)
        documents = choices.documents()
        RUN.show(
            RunProgress(
                report, run_id, accepted=True, running=False, documents=documents, unfinished=True
            )
        )
    RUN.refuse(reason)


def _hidden(run_id: str) -> str:
    """Return why a run may not be shown here; empty if it may, or is unknown."""
    access, reason = saved(lambda database: database.rights.access(run_id))
    if access and access.deleted:
        return "it was deleted. For a day, its owner can restore it on the History page."
    if access and access.private and not access.own:
        return "it is private to the browser that started it."
    return "" if access else reason


def withdraw() -> bool:
    """Take the shown run off the page if it was deleted or made private since; True if it was."""
    now = current()
    reason = _hidden(now.report.id) if now and now.report.id else ""
    if reason:
        RUN.show(None)
        RUN.refuse(reason)
    return bool(reason)


def is_own() -> bool:
    """Return True if this browser may change the shown run."""
    now = current()
    return now is not None and store().rights.access(now.report.id).own


def copy() -> None:
    """Show a copy of the shown run, which belongs to this browser."""
    if (now := current()) is None or now.running:
        return
    try:
        run_id = store().runs.copy(now.report.id)
    except NotYours as error:
        RUN.refuse(explain(error)[0])
        return
    open_before(run_id)


def _unstarted(run_id: str, inputs: RunInputs) -> Report:
    """Return a report of a run of which only the inputs are known."""
    made_with = {"question": inputs.question, "answer": inputs.answer, "settings": inputs.settings}
    return Report(id=run_id, created_at=inputs.created_at, versions={}, **made_with)


def open_run(run_id: str) -> None:
    """Show a saved run in place of the one that is shown."""
    RUN.show(None)
    load(run_id)


def open_before(run_id: str) -> None:
    """Show the run whose changes were carried over, under its own address."""
    open_run(run_id)
    state.show_address(run=run_id)


def duplicate(run_id: str) -> None:
    """Fill in the form with what a run was made with, and show no result."""
    open_run(run_id)
    RUN.show(None)


def analyse() -> None:
    """Start a run with the inputs of the form."""
    settings = choices.settings()
    if not isinstance(settings, str) and not choices.turns_problem() and not is_running():
        _start(*text(), settings, choices.documents(), choices.turns())


def continue_run() -> None:
    """Finish the shown run, which was interrupted or stopped, with the inputs it was started with."""
    now = current()
    if now is None or now.running or (inputs := store().runs.inputs(now.report.id)) is None:
        return
    if inputs.finished and not now.report.stopped:
        return
    try:
        settings = choices.settings_of(inputs.settings)
    except AttributionError as error:
        RUN.refuse(explain(error)[0], "The run cannot be continued")
        return
    known = store().runs.load_unfinished(now.report.id) or now.report
    reached = tuple(
        v for v in known.verdicts if v.label != "not_reached"
    )  # the others are pending again
    known = known.model_copy(update={"verdicts": reached})
    documents = (
        store().runs.documents(known.id) or now.documents
    )  # a stopped run's are those of the form
    before = replace(now, report=known, unfinished=not inputs.finished)
    _start(inputs.question, inputs.answer, settings, documents, known.context, before)


def _start(
    question: str,
    answer: str,
    settings: Settings,
    documents: Sequence[Document],
    turns: tuple[Turn, ...],
    before: RunProgress | None = None,
) -> None:
    """Start a run; `before` is the one it continues."""
    browser, database, run_id = state.browser(), store(), before.report.id if before else ""

    def run(
        question: str,
        answer: str,
        settings: Settings,
        documents: Sequence[Document],
        stop: threading.Event,
    ) -> Iterator[Event]:
        from attribution.pipeline.run import in_turn
        from attribution.pipeline.run import run as events

        def start() -> Iterator[Event]:
            return events(
                question, answer, settings, database, documents, stop, run_id=run_id, context=turns
            )

        for event in in_turn(browser, stop, start):
            if isinstance(event, RunStarted):
                database.runs.save_documents(event.run_id, documents)
            yield event

    RUN.start(RunJob(question, answer, settings, documents, run, before))


def text() -> tuple[str, str]:
    """Return the question and the answer in the form."""
    return state.value(state.QUESTION) or "", state.value(state.ANSWER) or ""


def edit(change: Change, documents: Sequence[Document] = (), addresses: Sequence[str] = ()) -> None:
    """Change the shown run in the background; documents and addresses are evidence for the claims
    it concerns.
    """
    now = current()
    if now is None or now.running:
        return
    try:
        settings = choices.settings_of(now.report.settings, "sources")
    except AttributionError as error:
        RUN.refuse(explain(error)[0], "The run cannot be changed")
        return
    database, browser = store(), state.browser()

    def run(
        _q: str, _a: str, settings: Settings, own: Sequence[Document], stop: threading.Event
    ) -> Iterator[Event]:
        from attribution.pipeline.editing import edit as events
        from attribution.pipeline.run import each_in_turn

        return each_in_turn(
            browser, stop, events(now.report, change, settings, database, own, addresses, stop)
        )

    RUN.start(
        RunJob(
            now.report.question,
            now.report.answer,
            settings,
            documents,
            run,
            before=now,
            lasting=False,
        )
    )


def judge(change: Judge) -> RunProgress | None:
    """Set or clear the analyst's verdict on a claim, at once: no model is asked. None if that is
    refused.
    """
    from attribution.pipeline.editing import edit as events

    now = current()
    if now is None or now.running:
        return None
    try:
        (finished,) = (
            e for e in events(now.report, change, Settings(), store()) if isinstance(e, Finished)
        )
    except (BadInput, NotYours) as error:
        RUN.refuse(explain(error)[0], "Your verdict could not be kept")
        return None
    RUN.show(replace(now, report=finished.report, version=now.version + 1))
    return current()


def undo() -> None:
    """Show the run as it was before the last edit."""
    _step(store().runs.undo)


def redo() -> None:
    """Show the run with the edit that was undone last."""
    _step(store().runs.redo)


def _step(step: Callable[[str], Report | None]) -> None:
    now = current()
    if now is None or now.running:
        return
    try:
        report = step(now.report.id)
    except NotYours as error:
        RUN.refuse(explain(error)[0])
        return
    if report:
        RUN.show(replace(now, report=report, version=now.version + 1))


def provenance(now: RunProgress) -> Provenance | None:
    """Return how a finished run found its pages; None while it is under way."""
    return None if now.running or not now.report.id else store().runs.provenance(now.report.id)


def analyse_with_library() -> None:
    """Start again with the built-in library, where the web could not be searched."""
    choices.select(True, False, bool(state.value(state.DOCUMENTS)))
    analyse()


def current() -> RunProgress | None:
    """Return the run to show: the one in progress, else the last one that reached its first event."""
    if job := RUN.job():
        now = job.progress()
        if now.accepted:
            RUN.remember(now)
        elif now.running:
            return now
        if now.report.id:
            state.show_address(run=now.report.id)
    return RUN.shown()


def problem() -> tuple[str, str, str, str] | None:
    """Return why the last run could not start or finish: a title, the reason, details, and the look
    of the notice.
    """
    job = RUN.job()
    now = job.progress() if job else None
    if now and now.rejected:
        title = "This edit cannot be made" if now.accepted else "This text cannot be analysed"
        return title, now.rejected, now.detail, "contradicted"
    if now and now.error:
        title = "The run could not be finished" if now.accepted else "The run could not start"
        return title, now.error, now.detail, "contradicted"
    if now and not now.running and not now.accepted:
        return (
            "The run was stopped in the queue",
            "Nothing was checked. Analyse starts it again.",
            "",
            "missing",
        )
    return None


def cached_view(
    now: RunProgress, editable: bool, only: str, draw: Callable[[tuple[View, str] | None], View]
) -> View:
    """Return the result of `draw`, recomputed only when claims, verdicts, choices or the right to
    edit have changed.

    Where `only` one claim has changed, `draw` gets the result before and that claim's id.
    """
    key = (now.key, now.version, now.running, editable, choices.policy(now.report))
    cached: tuple[object, View] | None = state.get(VIEW)
    if cached is None or cached[0] != key:
        cached = (key, draw((cached[1], only) if cached and only else None))
        state.put(VIEW, cached)
    return cached[1]


# --- the estimate ---


def estimate(segmenters: Sequence[str] = ()) -> tuple[Estimate | None, bool]:
    """Return the estimate for a run, or for a comparison of these segmenters, and True while it is
    being computed.
    """
    (question, answer), settings, documents = text(), choices.settings(), choices.documents()
    turns = choices.turns()
    if isinstance(settings, str) or not answer.strip():
        return None, False

    database = unowned_store()

    def compute() -> Estimate:
        from attribution.pipeline.estimate import estimate as of

        return of(question, answer, settings, documents, database, segmenters, turns)

    key = (question, answer, settings, documents, tuple(segmenters), turns)
    job: background.Job[background.Computation[Estimate]] | None = state.get(ESTIMATE)
    now = job.progress() if job else None
    if now is None or (not now.running and now.key != key):
        state.put(ESTIMATE, background.compute(key, compute))
        return None, True
    return (now.value, False) if not now.running and now.key == key else (None, True)
