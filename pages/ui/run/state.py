"""The run of one session: starting, stopping and showing it, and its estimate."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from attribution.events import Event, Finished, RunStarted, StageStarted
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.types import Claim, Document, Report
from attribution.verdicts import recolour, thresholds_of
from pages.ui import background, state
from pages.ui.form import choices
from pages.ui.run.job import RunJob, RunProgress
from pages.ui.slot import Slot, saved, store

if TYPE_CHECKING:
    from attribution.pipeline.estimate import Estimate  # imports spaCy

ESTIMATE, VIEW = "estimate", "view"
RUN = Slot[RunJob, RunProgress]("run")
stop, is_running, notice = RUN.stop, RUN.is_running, RUN.notice


def load(run_id: str) -> None:
    """Show a saved run, or one in progress, and fill in its form; `notice` says why where it cannot be shown."""
    access, reason = saved(lambda database: database.access(run_id, state.browser()))
    report = inputs = None
    if access and access.private and not access.own:
        reason = "it is private to the browser that started it."
    elif job := RUN.running(run_id):
        choices.restore(job.progress().report)
        return
    elif access:
        report, reason = saved(lambda database: database.load_run(run_id))
        inputs = None if report else saved(lambda database: database.run_inputs(run_id))[0]
    if report:
        choices.restore(report)
        RUN.show(RunProgress(report, report.id, accepted=True, running=False, documents=choices.documents()))
        return
    if inputs and not inputs.finished:
        reason = "it did not finish. Its question, answer and settings are filled in."
        blank = Report(id=run_id, created_at="", question="", answer="", settings=inputs.settings, versions={})
        choices.restore(blank.model_copy(update={"question": inputs.question, "answer": inputs.answer}))
    RUN.refuse(reason)


def analyse() -> None:
    """Start a run of what is filled in."""
    settings = choices.settings()
    if isinstance(settings, str) or is_running():
        return

    def run(
        question: str, answer: str, settings: Settings, documents: Sequence[Document], stop: threading.Event
    ) -> Iterator[Event]:
        from attribution.pipeline.run import run as events

        store = Store.open(settings.database_url)
        for event in events(question, answer, settings, store, documents, stop):
            if isinstance(event, RunStarted):
                store.set_owner(event.run_id, browser)
            yield event

    browser = state.browser()
    question, answer = text()
    RUN.start(RunJob(question, answer, settings, choices.documents(), run))


def text() -> tuple[str, str]:
    """The question and the answer that are filled in."""
    return state.value(state.QUESTION) or "", state.value(state.ANSWER) or ""


def recheck(claim: Claim, documents: Sequence[Document] = (), addresses: Sequence[str] = ()) -> None:
    """Check one claim of the shown run again, over its pages and those added."""
    now = current()
    if now is None or now.running:
        return
    saved = {name: value for name, value in now.report.settings.items() if name in Settings.model_fields}
    settings = Settings.from_environment(**saved | {name: state.value(name) for name in state.THRESHOLDS})

    def run(_q: str, _a: str, settings: Settings, own: Sequence[Document], _stop: threading.Event) -> Iterator[Event]:
        from attribution.pipeline.recheck import recheck as check

        yield StageStarted("verify")
        yield Finished(check(now.report, claim, settings, Store.open(settings.database_url), own, addresses))

    RUN.start(RunJob(now.report.question, now.report.answer, settings, documents, run, before=now))


def undo() -> None:
    """Show the run as it was before the last correction."""
    now = current()
    if now is None or now.running or (report := store().undo(now.report.id)) is None:
        return
    RUN.start(None)
    RUN.show(replace(now, report=report, version=now.version + 1))


def corrected_claims(run_id: str) -> frozenset[str]:
    """The ids of the claims that were corrected by hand."""
    return frozenset(v.claim_id for v in store().versions(run_id) if v.claim_id)


def delete(run_id: str) -> None:
    """Remove a run that this browser started."""
    store().delete_run(run_id, state.browser())
    RUN.start(None)
    RUN.show(None)
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
        return "This text cannot be analysed", now.rejected, now.detail
    if now and now.error:
        title = "The run could not be finished" if now.accepted else "The run could not start"
        return title, now.error, now.detail
    return None


def with_thresholds(report: Report) -> Report:
    """The run judged with the thresholds of the sliders."""
    thresholds = choices.thresholds()
    return report if thresholds_of(report) == thresholds else recolour(report, thresholds)


def cached_view(now: RunProgress, draw: Callable[[], Any]) -> Any:
    """The result of `draw`, computed again only when claims, verdicts or thresholds have changed."""
    key = (now.key, now.version, now.running, choices.thresholds())
    cached = state.get(VIEW)
    if cached is None or cached[0] != key:
        cached = (key, draw())
        state.put(VIEW, cached)
    return cached[1]


# --- the estimate ---


@cache
def preload() -> background.Job[background.Result[None]]:
    """Load what a first run would wait for, once per process, while a visitor reads."""

    def load_models() -> None:
        from attribution.pipeline.warmup import warm_up

        warm_up(Settings.from_environment(), store())

    return background.compute("models", load_models)


def estimate(segmenters: Sequence[str] = ()) -> tuple[Estimate | None, bool]:
    """What a run would take, or a comparison of these segmenters, and whether that is still being worked out."""
    (question, answer), settings, documents = text(), choices.settings(), choices.documents()
    if isinstance(settings, str) or not answer.strip():
        return None, False

    def compute() -> Estimate:
        from attribution.pipeline.estimate import estimate as of

        return of(question, answer, settings, documents, Store.open(settings.database_url), segmenters)

    key = (question, answer, settings, documents, tuple(segmenters))
    job: background.Job[background.Result[Estimate]] | None = state.get(ESTIMATE)
    now = job.progress() if job else None
    if now is None or (not now.running and now.key != key):
        state.put(ESTIMATE, background.compute(key, compute))
        return None, True
    return (now.value, False) if not now.running and now.key == key else (None, True)
