"""Start, follow, stop, continue and edit a run."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import streamlit as st

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
from attribution.settings import Settings
from attribution.types import Document, Provenance, Report, Turn
from pages.ui import background, choices, state
from pages.ui.answer_view import View, keep_pdf
from pages.ui.background import JobPage
from pages.ui.choices import explain
from pages.ui.state import saved, store, unowned_store

if TYPE_CHECKING:
    from attribution.pipeline.estimate import Estimate  # imports spaCy


@dataclass(frozen=True)
class RunProgress(background.JobProgress):
    """A run at one moment."""

    report: Report
    key: str = ""  # of the run in this session
    version: int = 0  # of its claims and verdicts, which take long to draw
    accepted: bool = False  # the first event has come
    stage: str = ""
    began: float = 0.0  # the verifier, on the monotonic clock
    units: dict[str, tuple[int, int]] = field(default_factory=dict)  # done and total by stage
    rejected: str = ""  # why the input cannot be checked
    documents: tuple[Document, ...] = ()  # that it is checked against
    unfinished: bool = False  # it was interrupted and can be continued


E = TypeVar("E")
R = TypeVar("R", bound=RunProgress)
RunEvents = Callable[[threading.Event], Iterator[Event]]  # of a stop signal


class RunJob(background.Job[RunProgress]):
    """One run, found by its address as soon as it has one."""

    def __init__(self, initial: RunProgress, events: RunEvents, lasting: bool = True) -> None:
        def changes(now: RunProgress, event: Event) -> Mapping[str, object]:
            if isinstance(event, RunStarted):
                background.register(event.run_id, self)
            elif isinstance(event, PageReady):
                keep_pdf(now.report.id, event.page, initial.documents)
            return run_changes(now, event)

        def work(stop: threading.Event, update: Callable[..., RunProgress]) -> None:
            follow(events(stop), update, changes)

        super().__init__(
            "run",
            initial,
            work,
            lasting=lasting,
        )


def follow(
    events: Iterable[E],
    update: Callable[..., R],
    changes: Callable[[R, E], Mapping[str, object]],
) -> None:
    """Bring the progress of a job up to date with each event."""
    now = update()
    try:
        for event in events:
            now = update(**changes(now, event))
    except BadInput as error:
        rejected, detail = explain(error)
        update(rejected=rejected, detail=detail)


def comparison_work(
    events: Callable[[threading.Event], Iterator[E]],
    ready: type[Any],
    save: Callable[[Any], None],
    *ignored: type[Any],
) -> background.Work[R]:
    """Follow a comparison, which is a run with events of its own.

    Args:
        ready: Class of the event that has the result so far; it is saved once it is finished.
        ignored: Classes of events that change nothing.
    """

    def changes(now: R, event: E) -> Mapping[str, object]:
        if isinstance(event, ready):
            if event.finished:
                save(event)
            return {"ready": event}
        if isinstance(event, (RunStarted, *ignored)):
            return {}  # the comparison has an address of its own
        return run_changes(now, event)  # type: ignore[arg-type]

    def compare(stop: threading.Event, update: Callable[..., R]) -> None:
        follow(events(stop), update, changes)

    return compare


def run_changes(now: RunProgress, event: Event) -> dict[str, object]:
    """Return the fields of the progress that an event of a run changes."""
    if isinstance(event, Queued):
        return {"stage": "queue", "units": {"queue": (event.place, 0)}}
    changes: dict[str, object] = {"accepted": True}
    if isinstance(event, ClaimsReady | VerdictReady | Finished):
        changes["version"] = now.version + 1
    match event:
        case StageStarted(stage):
            changes["stage"] = stage
            if stage == "verify":
                changes["began"] = time.monotonic()
        case Progress(stage, done, total):
            changes |= {"stage": stage, "units": {**now.units, stage: (done, total)}}
        case Finished(report):
            changes |= {"report": report, "unfinished": False}
        case _:
            found = _report_changes(now.report, event)
            changes["report"] = now.report.model_copy(update=found)
    return changes


def _report_changes(report: Report, event: Event) -> dict[str, object]:
    """Return the fields of a report that an event adds to."""
    match event:
        case RunStarted(run_id):
            return {"id": run_id}
        case ClaimsReady(claims):
            return {"claims": claims}
        case PageReady(page):
            return {"pages": (*report.pages, page)}
        case Failed(failure):
            return {"failures": (*report.failures, failure)}
        case Spent(queries, downloads, seconds):
            spent = {"queries": queries, "downloads": downloads, "seconds": seconds}
            return {"usage": report.usage.model_copy(update=spent)}
        case VerdictReady(verdict, evidence):
            order = {claim.id: place for place, claim in enumerate(report.claims)}
            verdicts = [v for v in report.verdicts if v.claim_id != verdict.claim_id]
            pieces = [e for e in report.evidence if e.claim_id != verdict.claim_id]
            return {
                "verdicts": _ordered((*verdicts, verdict), order),
                "evidence": _ordered((*pieces, *evidence), order),
            }
    return {}


def _ordered(items: Sequence[Any], order: Mapping[str, int]) -> tuple[Any, ...]:
    """Return verdicts or evidence in the order of the claims, without those of dropped claims."""
    known = [item for item in items if item.claim_id in order]
    return tuple(sorted(known, key=lambda item: order[item.claim_id]))


@cache
def preload() -> background.Job[background.Computation[None]]:
    """Load what a first run would wait for, once per process, while a visitor reads."""

    def load_models() -> None:
        from attribution.pipeline.estimate import warm_up

        warm_up(Settings.from_environment())

    return background.compute("models", load_models)


ESTIMATE, VIEW = "estimate", "view"
ADDRESS = "address"  # the run that the address named when it was looked at last
RUN = JobPage[RunProgress]("run", "run")
is_running = RUN.is_running


# --- saved runs ---


def load(run_id: str) -> None:
    """Show a saved run, or one in progress, and fill in its form."""
    reason = _why_hidden(run_id)
    if reason:
        RUN.refuse(reason)
        return
    job = RUN.follow(run_id)
    if job:
        choices.restore(job.progress().report)
        return
    report, reason = saved(lambda database: database.runs.load(run_id))
    unfinished = False
    if report is None:
        report, _ = saved(lambda database: database.runs.load(run_id, unfinished=True))
        unfinished = report is not None
    if report is None:
        RUN.refuse(reason)
        return
    choices.restore(report)
    RUN.show(
        RunProgress(
            report,
            run_id,
            accepted=True,
            running=False,
            documents=choices.documents(),
            unfinished=unfinished,
        )
    )


def _why_hidden(run_id: str) -> str:
    """Return why a run may not be shown here; empty if it may, or is unknown."""
    access, reason = saved(lambda database: database.rights.access(run_id))
    if access is None:
        return reason
    if access.private and not access.own:
        return "it is private to the browser that started it."
    return ""


def follow_address(has_moved: bool) -> None:
    """Show the run that the address names now, or none: the visitor may have gone back.

    Args:
        has_moved: The visitor comes from another page, whose address names no run.
    """
    requested = st.query_params.get("run", "")[:64]
    shown = state.get(ADDRESS) or ""
    if requested == shown or (has_moved and not requested):
        return
    if requested:
        open_run(requested)
        return
    state.put(ADDRESS, "")
    if not is_running():
        RUN.show(None)


def withdraw() -> bool:
    """Take the shown run off the page if it was deleted or made private since; True if it was."""
    now = current()
    reason = _why_hidden(now.report.id) if now and now.report.id else ""
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
    now = current()
    if now is None or now.running:
        return
    try:
        run_id = store().runs.copy(now.report.id)
    except NotYours as error:
        RUN.refuse(explain(error)[0])
        return
    open_run(run_id)
    state.show_address(run=run_id)


def open_run(run_id: str) -> None:
    """Show a saved run in place of the one that is shown; the caller puts it into the address."""
    state.put(ADDRESS, run_id)  # or the next redraw would load it once more, in place of an edit
    RUN.show(None)
    load(run_id)


# --- starting ---


def text() -> tuple[str, str]:
    """Return the question and the answer in the form."""
    return state.value("question") or "", state.value("answer") or ""


def analyse() -> None:
    """Start a run with the inputs of the form."""
    settings = choices.settings()
    if isinstance(settings, str) or choices.turns_problem() or is_running():
        return
    blank = Report.blank(*text(), settings.public())
    report = blank.model_copy(update={"context": choices.turns()})
    _start(RunProgress(report, secrets.token_hex(6), documents=choices.documents()), settings)


def analyse_with_library() -> None:
    """Start again with the built-in library, where the web could not be searched."""
    others = [source for source in state.value("sources") or () if source != "web"]
    state.fill(sources=tuple(dict.fromkeys(("library", *others))))
    analyse()


def continue_run() -> None:
    """Finish the shown run, which was interrupted or stopped, with its own inputs."""
    now = current()
    if now is None or now.running:
        return
    unfinished = store().runs.load(now.report.id, unfinished=True)
    report = unfinished or now.report
    if unfinished is None and not report.stopped:
        return
    try:
        settings = choices.settings_of(report.settings)
    except AttributionError as error:
        RUN.refuse(explain(error)[0], "The run cannot be continued")
        return
    reached = tuple(v for v in report.verdicts if v.label != "not_reached")
    before = RunProgress(
        report.model_copy(update={"verdicts": reached}),
        now.key,
        now.version,
        accepted=True,
        documents=tuple(store().runs.documents(report.id)) or now.documents,
        unfinished=unfinished is not None,
    )
    _start(before, settings)


def _start(initial: RunProgress, settings: Settings) -> None:
    """Start a run; one whose report has an id is continued."""
    browser, database = state.browser(), store()
    report, documents = initial.report, initial.documents

    def events(stop: threading.Event) -> Iterator[Event]:
        from attribution.fair_queue import in_turn
        from attribution.pipeline.run import run

        start = partial(
            run,
            report.question,
            report.answer,
            settings,
            database,
            documents,
            stop,
            run_id=report.id,
            context=report.context,
        )
        for event in in_turn(browser, stop, start):
            if isinstance(event, RunStarted):
                database.runs.save_documents(event.run_id, documents)
            yield event

    RUN.start(RunJob(initial, events))


# --- editing ---


def edit(change: Change, documents: Sequence[Document] = (), addresses: Sequence[str] = ()) -> None:
    """Change the shown run in the background; documents and addresses are further evidence."""
    now = current()
    if now is None or now.running:
        return
    try:
        settings = choices.settings_of(now.report.settings, "sources")
    except AttributionError as error:
        RUN.refuse(explain(error)[0], "The run cannot be changed")
        return
    database, browser, report = store(), state.browser(), now.report

    def events(stop: threading.Event) -> Iterator[Event]:
        from attribution.fair_queue import each_in_turn
        from attribution.pipeline.editing import edit

        steps = edit(
            report,
            change,
            settings,
            database,
            documents,
            addresses,
            stop,
        )
        return each_in_turn(browser, stop, steps)

    initial = RunProgress(
        report,
        now.key,
        now.version,
        accepted=True,
        documents=(*now.documents, *documents),
    )
    RUN.start(RunJob(initial, events, lasting=False))


def judge(change: Judge) -> None:
    """Set or clear the analyst's verdict on a claim, at once."""
    from attribution.pipeline.editing import edit

    now = current()
    if now is None or now.running:
        return
    try:
        *_, last = edit(now.report, change, Settings(), store())
    except (BadInput, NotYours) as error:
        RUN.refuse(explain(error)[0], "Your verdict could not be kept")
        return
    if isinstance(last, Finished):
        RUN.show(replace(now, report=last.report, version=now.version + 1))


def undo() -> None:
    """Show the run as it was before the last edit."""
    now = current()
    if now is None or now.running:
        return
    try:
        report = store().runs.undo(now.report.id)
    except NotYours as error:
        RUN.refuse(explain(error)[0])
        return
    if report:
        RUN.show(replace(now, report=report, version=now.version + 1))


# --- what is shown ---


def current() -> RunProgress | None:
    """Return the run to show: the one in progress, else the last one with a first event."""
    job = RUN.job()
    if job is None:
        return RUN.shown()
    now = job.progress()
    if now.accepted:
        RUN.remember(now)
    elif now.running:
        return now
    if now.report.id:
        state.show_address(run=now.report.id)
        state.put(ADDRESS, now.report.id)
    return RUN.shown()


def provenance(now: RunProgress) -> Provenance | None:
    """Return how a finished run found its pages; None while it is under way."""
    return None if now.running or not now.report.id else store().runs.provenance(now.report.id)


class RunProblem(NamedTuple):
    """Why a run could not start or finish, and the look of its notice."""

    title: str
    reason: str
    detail: str = ""
    label: str = "contradicted"
    rejected: tuple[str, str] | None = None  # question and answer of a run that did not start


def problem() -> RunProblem | None:
    """Return why the last run could not start or finish."""
    job = RUN.job()
    if job is None:
        return None
    now = job.progress()
    rejected = None if now.accepted else (now.report.question, now.report.answer)
    if now.rejected:
        title = "This edit cannot be made" if now.accepted else "This text cannot be checked"
        return RunProblem(title, now.rejected, now.detail, rejected=rejected)
    if now.error:
        title = "The run could not be finished" if now.accepted else "The run could not start"
        return RunProblem(title, now.error, now.detail, rejected=rejected)
    if not now.running and not now.accepted:
        title = "The run was stopped in the queue"
        reason = "Nothing was checked. “Check the answer” starts it again."
        return RunProblem(title, reason, label="missing", rejected=rejected)
    return None


def cached_view(now: RunProgress, editable: bool, draw: Callable[[], View]) -> View:
    """Return the result of `draw`, recomputed when the run, the thresholds or rights have
    changed.
    """
    key = (now.key, now.version, now.running, editable, choices.policy(now.report))
    return state.cached(VIEW, key, draw)


def is_loading() -> bool:
    """Return True until this process has loaded what a first run waits for."""
    from attribution.pipeline.estimate import loaded

    return not loaded.is_set()


class Estimated(NamedTuple):
    """The estimate of a run, if there is one, and whether it is still being computed."""

    value: Estimate | None
    waiting: bool


def estimate() -> Estimated:
    """Return the estimate for a run."""
    (question, answer), settings, documents = text(), choices.settings(), choices.documents()
    turns: tuple[Turn, ...] = choices.turns()
    if isinstance(settings, str) or not answer.strip():
        return Estimated(None, waiting=False)
    database = unowned_store()

    def compute() -> Estimate:
        from attribution.pipeline.estimate import estimate as of

        return of(question, answer, settings, documents, database, context=turns)

    key = (question, answer, settings, documents, turns, is_loading())
    job: background.Job[background.Computation[Estimate]] | None = state.get(ESTIMATE)
    now = job.progress() if job else None
    if now is None or (not now.running and now.key != key):
        state.put(ESTIMATE, background.compute(key, compute))
        return Estimated(None, waiting=True)
    if now.running or now.key != key:
        return Estimated(None, waiting=True)
    return Estimated(now.value, waiting=False)
