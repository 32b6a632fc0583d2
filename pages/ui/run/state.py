"""The run of one session: starting, stopping and showing it, and its estimate."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from attribution.errors import AttributionError, NotYours
from attribution.events import Event, RunStarted
from attribution.provenance import Provenance
from attribution.settings import Settings
from attribution.storage.runs import RunInputs
from attribution.types import Change, Document, Report, Turn
from pages.ui import background, state
from pages.ui.edit.state import chosen
from pages.ui.form import choices, conversation
from pages.ui.form.words import explain
from pages.ui.run.job import RunJob, RunProgress
from pages.ui.slot import Slot, saved, store, unowned_store

if TYPE_CHECKING:
    from attribution.pipeline.estimate import Estimate  # imports spaCy

ESTIMATE, VIEW = "estimate", "view"
RUN = Slot[RunJob, RunProgress]("run")
is_running, notice = RUN.is_running, RUN.notice


def load(run_id: str) -> None:
    """Show a saved run, or one in progress, and fill in its form; `notice` says why where it cannot be shown."""
    reason = _hidden(run_id)
    report = inputs = None
    if reason:
        pass
    elif job := RUN.running(run_id):
        choices.restore(job.progress().report)
        return
    else:
        report, reason = saved(lambda database: database.load_run(run_id))
        inputs = None if report else saved(lambda database: database.run_inputs(run_id))[0]
    if report:
        choices.restore(report)
        RUN.show(RunProgress(report, report.id, accepted=True, running=False, documents=choices.documents()))
        return
    if inputs and not inputs.finished:
        reason = ""
        report = store().load_unfinished(run_id) or _blank(run_id, inputs)
        choices.restore(report)
        documents = choices.documents()
        RUN.show(RunProgress(report, run_id, accepted=True, running=False, documents=documents, unfinished=True))
    RUN.refuse(reason)


def _hidden(run_id: str) -> str:
    """Why a run may not be shown here; empty where it may, or is unknown."""
    access, reason = saved(lambda database: database.access(run_id))
    if access and access.deleted:
        return "it was deleted. For a day, its owner can restore it on the History page."
    if access and access.private and not access.own:
        return "it is private to the browser that started it."
    return "" if access else reason


def withdraw() -> bool:
    """Take the shown run off the page where it was deleted or made private since; True where that was so."""
    now = current()
    reason = _hidden(now.report.id) if now and now.report.id else ""
    if reason:
        _show(None)
        RUN.refuse(reason)
    return bool(reason)


def is_own() -> bool:
    """Whether this browser may change the shown run."""
    now = current()
    return now is not None and store().access(now.report.id).own


def _show(now: RunProgress | None) -> None:
    """Show a run, or none, in place of a job."""
    RUN.start(None)
    RUN.show(now)


def copy() -> None:
    """Show a copy of the shown run, which belongs to this browser."""
    if (now := current()) is None or now.running:
        return
    try:
        run_id = store().copy_run(now.report.id)
    except NotYours as error:
        RUN.refuse(explain(error)[0])
        return
    open_run(run_id)
    state.show_address(run=run_id)


def _blank(run_id: str, inputs: RunInputs) -> Report:
    """A run of which nothing is known but what it was started with."""
    made_with = {"question": inputs.question, "answer": inputs.answer, "settings": inputs.settings}
    return Report(id=run_id, created_at=inputs.created_at, versions={}, **made_with)


def open_run(run_id: str) -> None:
    """Show a saved run in place of the one that is shown."""
    _show(None)
    load(run_id)


def duplicate(run_id: str) -> None:
    """Fill in the form with what a run was made with, and show no result."""
    open_run(run_id)
    _show(None)


def analyse() -> None:
    """Start a run of what is filled in."""
    settings = choices.settings()
    if not isinstance(settings, str) and not conversation.turns_problem() and not is_running():
        state.fill(**{name: state.value(name) for name in state.THRESHOLDS})  # the sliders move from the sidebar
        _start(*text(), settings, choices.documents(), conversation.turns())


def continue_run() -> None:
    """Finish the run that is shown and was interrupted or stopped, as it was started."""
    now = current()
    if now is None or now.running or (inputs := store().run_inputs(now.report.id)) is None:
        return
    if inputs.finished and not now.report.stopped:
        return
    try:
        settings = choices.settings_of(inputs.settings)
    except AttributionError as error:
        RUN.refuse(f"it cannot be continued: {explain(error)[0]}")
        return
    known = store().load_unfinished(now.report.id) or now.report
    reached = tuple(v for v in known.verdicts if v.label != "not_reached")  # the others are pending again
    known = known.model_copy(update={"verdicts": reached})
    documents = store().documents(known.id) or now.documents  # a stopped run's are those of the form
    before = replace(now, report=known, unfinished=False, error="")
    _start(inputs.question, inputs.answer, settings, documents, known.context, before)


def _start(
    question: str,
    answer: str,
    settings: Settings,
    documents: Sequence[Document],
    turns: tuple[Turn, ...],
    before: RunProgress | None = None,
) -> None:
    browser, database, run_id = state.browser(), store(), before.report.id if before else ""

    def run(
        question: str, answer: str, settings: Settings, documents: Sequence[Document], stop: threading.Event
    ) -> Iterator[Event]:
        from attribution.pipeline.run import run as events
        from attribution.pipeline.turns import in_turn

        going = partial(events, question, answer, settings, database, documents, stop, run_id=run_id, context=turns)
        for event in in_turn(browser, stop, going):
            if isinstance(event, RunStarted):
                database.save_documents(event.run_id, documents)
            yield event

    RUN.start(RunJob(question, answer, settings, documents, run, before))


def text() -> tuple[str, str]:
    """The question and the answer that are filled in."""
    return state.value(state.QUESTION) or "", state.value(state.ANSWER) or ""


def edit(change: Change, documents: Sequence[Document] = (), addresses: Sequence[str] = ()) -> None:
    """Change the shown run in the background; the documents and addresses are evidence for what the change concerns."""
    now = current()
    if now is None or now.running:
        return
    try:
        settings = choices.settings_of(now.report.settings, "sources")
    except AttributionError as error:
        RUN.refuse(f"it cannot be changed: {explain(error)[0]}")
        return
    database = store()

    def run(_q: str, _a: str, settings: Settings, own: Sequence[Document], stop: threading.Event) -> Iterator[Event]:
        from attribution.pipeline.editing.edit import edit as events

        yield from events(now.report, change, settings, database, own, addresses, stop)

    RUN.start(RunJob(now.report.question, now.report.answer, settings, documents, run, before=now))


def undo() -> None:
    """Show the run as it was before the last edit."""
    _step(store().undo)


def redo() -> None:
    """Show the run with the edit that was undone last."""
    _step(store().redo)


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
        _show(replace(now, report=report, version=now.version + 1))


def provenance(now: RunProgress) -> Provenance | None:
    """How a finished run found its pages; None while it is under way."""
    return None if now.running or not now.report.id else store().provenance(now.report.id)


def delete(run_id: str) -> None:
    """Delete a run that this browser started; the History page can restore it."""
    store().put_aside([run_id])
    _show(None)
    st.query_params.pop("run", None)


def analyse_with_library() -> None:
    """Start again with the built-in library, where the web could not be searched."""
    choices.select(True, False, bool(state.value(state.DOCUMENTS)))
    analyse()


def current() -> RunProgress | None:
    """The run to show: the one in progress, else the last one that got as far as its first event."""
    if job := RUN.job():
        now = job.progress()
        if now.accepted:
            RUN.show(now)
        elif now.running:
            return now
        if now.report.id:
            state.show_address(run=now.report.id)
    return RUN.shown()


def problem() -> tuple[str, str, str] | None:
    """Why the last run could not start or finish: a title, the reason and its details."""
    job = RUN.job()
    now = job.progress() if job else None
    if now and now.rejected:
        title = "This edit cannot be made" if now.accepted else "This text cannot be analysed"
        return title, now.rejected, now.detail
    if now and now.error:
        title = "The run could not be finished" if now.accepted else "The run could not start"
        return title, now.error, now.detail
    return None


def cached_view(now: RunProgress, editable: bool, draw: Callable[[], Any]) -> Any:
    """The result of `draw`, computed again only when claims, verdicts, choices or the right to edit have changed."""
    key = (now.key, now.version, now.running, editable, chosen())
    cached = state.get(VIEW)
    if cached is None or cached[0] != key:
        cached = (key, draw())
        state.put(VIEW, cached)
    return cached[1]


# --- the estimate ---


def estimate(segmenters: Sequence[str] = ()) -> tuple[Estimate | None, bool]:
    """What a run would take, or a comparison of these segmenters, and whether that is still being worked out."""
    (question, answer), settings, documents = text(), choices.settings(), choices.documents()
    turns = conversation.turns()
    if isinstance(settings, str) or not answer.strip():
        return None, False

    database = unowned_store()

    def compute() -> Estimate:
        from attribution.pipeline.estimate import estimate as of

        return of(question, answer, settings, documents, database, segmenters, turns)

    key = (question, answer, settings, documents, tuple(segmenters), turns)
    job: background.Job[background.Result[Estimate]] | None = state.get(ESTIMATE)
    now = job.progress() if job else None
    if now is None or (not now.running and now.key != key):
        state.put(ESTIMATE, background.compute(key, compute))
        return None, True
    return (now.value, False) if not now.running and now.key == key else (None, True)
