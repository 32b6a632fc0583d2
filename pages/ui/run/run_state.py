"""The run of one session: started, stopped, looked at, and what it would cost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import streamlit as st

from attribution.errors import AttributionError
from attribution.events import Event, Finished, StageStarted
from attribution.settings import Settings
from attribution.types import Claim, Document, Report
from attribution.verdicts import recolour
from pages.ui import state
from pages.ui.run.job import Background, Job, State

_JOB, _SHOWN, _SAVED, _ESTIMATE, _DRAWN, _BEFORE = "_job", "_shown", "_saved", "_estimate", "_drawn", "_before"


def _run(
    question: str, answer: str, settings: Settings, documents: Sequence[Document], stop: threading.Event
) -> Iterator[Event]:
    from attribution.pipeline.run import run
    from attribution.storage.store import Store

    yield from run(question, answer, settings, Store.open(settings.database_url), documents, stop)


def load(run: str) -> None:
    """Show a saved run, with its question, answer and threshold filled in; `notice` says why where it cannot be."""
    from attribution.storage.store import Store

    missing = "it is not kept here. Runs stay in the database of the machine that made them."
    try:
        report = Store.open(Settings.from_environment().database_url).load_run(run[:64])
    except (AttributionError, ValueError) as error:  # pydantic's ValidationError is a ValueError
        report = None
        missing = str(error) if isinstance(error, AttributionError) else "another version of the explorer made it."
    if report is None:
        st.session_state[_SAVED] = f"The run named in the address cannot be shown: {missing}"
        return
    st.session_state[_SHOWN] = State(report, report.id, accepted=True)
    state.fill(question=report.question, answer=report.answer)
    if isinstance(threshold := report.settings.get("threshold"), float):
        state.fill(threshold=threshold)


def notice() -> str:
    """Why a saved run could not be shown, if so."""
    return str(st.session_state.get(_SAVED, ""))


def analyse() -> None:
    """Start a run of what is filled in."""
    session = st.session_state
    chosen = state.settings()
    job: Job | None = session.get(_JOB)
    if isinstance(chosen, str) or (job and job.state().running):
        return
    session.pop(_SAVED, None)
    session.pop(_BEFORE, None)
    session[_JOB] = Job(
        state.value(state.QUESTION) or "", state.value(state.ANSWER) or "", chosen, state.documents(), _run
    )


def recheck(claim: Claim, documents: Sequence[Document] = (), addresses: Sequence[str] = ()) -> None:
    """Check one claim of the run on the page again, over its pages and those added."""
    session, now = st.session_state, current()
    if now is None or now.running:
        return
    known = {k: v for k, v in now.report.settings.items() if k in Settings.model_fields}
    chosen = Settings.from_environment(**known | {"threshold": state.value(state.THRESHOLD)})  # as the run was made

    def run(_q: str, _a: str, chosen: Settings, own: Sequence[Document], _stop: threading.Event) -> Iterator[Event]:
        from attribution.pipeline.recheck import recheck as check
        from attribution.storage.store import Store

        yield StageStarted("verify")
        yield Finished(check(now.report, claim, chosen, Store.open(chosen.database_url), own, addresses))

    session[_BEFORE] = now
    session[_JOB] = Job(now.report.question, now.report.answer, chosen, documents, run, before=now)


def undo() -> None:
    """Back to the run as it was before a claim was checked again."""
    if (before := st.session_state.pop(_BEFORE, None)) and not running():
        st.session_state.pop(_JOB, None)
        st.session_state[_SHOWN] = before
        st.query_params["run"] = before.report.id


def undoable() -> bool:
    """Was a claim checked again?"""
    return _BEFORE in st.session_state and not running()


def analyse_with_library() -> None:
    """Start again with the built-in library, where the web could not be searched."""
    state.tick(True, False, bool(state.value(state.OWN)))
    analyse()


def stop() -> None:
    """End the run with what it has."""
    if job := st.session_state.get(_JOB):
        job.stop()


def current() -> State | None:
    """The run to show: the one under way, else the last one that got as far as its first event."""
    session = st.session_state
    if job := session.get(_JOB):
        now: State = job.state()
        if now.accepted:
            session[_SHOWN] = now
        elif now.running:
            return now
        if not now.running and now.report.id and st.query_params.get("run") != now.report.id:
            st.query_params["run"] = now.report.id
    return session.get(_SHOWN)


def running() -> bool:
    job: Job | None = st.session_state.get(_JOB)
    return job is not None and job.state().running


def problem() -> tuple[str, str] | None:
    """What kept the last run from starting or finishing: a title and the reason."""
    job: Job | None = st.session_state.get(_JOB)
    now = job.state() if job else None
    if now and now.rejected:
        return "This text cannot be analysed", now.rejected
    if now and now.broken:
        return "The run could not be finished" if now.accepted else "The run could not start", now.broken
    return None


def recoloured(report: Report) -> Report:
    """The run with the threshold of the slider."""
    threshold = float(state.value(state.THRESHOLD))
    return report if report.settings.get("threshold") == threshold else recolour(report, threshold)


def drawn(now: State, make: Callable[[], Any]) -> Any:
    """What `make` draws of a run, made again only when claims, verdicts or the threshold have changed."""
    wanted = (now.key, now.version, now.running, state.value(state.THRESHOLD))
    held = st.session_state.get(_DRAWN)
    if held is None or held[0] != wanted:
        held = st.session_state[_DRAWN] = (wanted, make())
    return held[1]


def outdated(report: Report) -> bool:
    """Has the text been changed since?"""
    return (report.question, report.answer) != (state.value(state.QUESTION) or "", state.value(state.ANSWER) or "")


# --- the estimate ---


@cache
def preload() -> Background:
    """What a first run would wait for, once a process and aside, while a visitor still reads."""

    def load_them() -> None:
        from attribution.pipeline.warmup import warm_up
        from attribution.storage.store import Store

        settings = Settings.from_environment()
        warm_up(settings, Store.open(settings.database_url))

    return Background("models", load_them)


def estimate(segmenters: Sequence[str] = ()) -> tuple[Any, bool]:
    """What a run would take, or a comparison of these segmenters, and whether that is still being worked out."""
    session = st.session_state
    question, answer, chosen, own = (
        state.value(state.QUESTION) or "",
        state.value(state.ANSWER) or "",
        state.settings(),
        state.documents(),
    )
    if isinstance(chosen, str) or not answer.strip():
        return None, False

    def compute() -> Any:
        from attribution.pipeline.estimate import estimate as compute_estimate
        from attribution.storage.store import Store

        return compute_estimate(question, answer, chosen, own, Store.open(chosen.database_url), segmenters)

    wanted = (question, answer, chosen, own, tuple(segmenters))
    held: Background | None = session.get(_ESTIMATE)
    if held is None or (held.done and held.key != wanted):
        session[_ESTIMATE] = held = Background(wanted, compute)
    return (held.value, False) if held.done and held.key == wanted else (None, True)
