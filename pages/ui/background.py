"""Background jobs: threads that report their progress to a session and can be stopped, and the part
of a page that starts one, follows it, and shows its result under an address.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attribution.events import Queued
from attribution.store.store import Store
from pages.ui import state
from pages.ui.choices import explain
from pages.ui.frame import note, progress_bar, status_line
from pages.ui.state import saved

# seconds that a job continues without a tab that follows it, and between two checks
ALONE, LOOK = 120.0, 2.0


def time_left(seconds: float) -> str:
    """Say how long a job still takes."""
    return f"{seconds:.0f} s left" if seconds < 120 else f"{seconds / 60:.0f} min left"


@dataclass(frozen=True, kw_only=True)
class JobProgress:
    """The state of a job at one moment. Stopping a job, or an error in it, keeps the results so
    far.
    """

    running: bool = True
    stopping: bool = False
    error: str = ""  # why it ended early, in the words of the page
    detail: str = ""  # what another library said about it
    seconds: float = 0.0  # since it was started
    seconds_left: float | None = None  # at the pace so far; None until something is done

    def doing(self) -> str:
        """Describe what is being done and how far it is; empty if the page draws that itself."""
        return ""

    def share(self) -> float:
        """Return the share that is done."""
        return 0.0


P = TypeVar("P", bound=JobProgress)
T = TypeVar("T")
Work = Callable[[threading.Event, Callable[..., P]], None]


class Job(Generic[P]):
    """A job with its own thread and stop signal. `work` gets the signal and a function that updates
    the progress.

    `id` is that of the result: a page that is opened by the address of the result finds the job by
    it. Unless it is `lasting`, it is stopped when the tabs that follow it have been closed for
    ALONE seconds.
    """

    def __init__(
        self, name: str, initial: P, work: Work[P], id: str = "", lasting: bool = False
    ) -> None:
        self.id = id
        self.starter = ""  # the token of the browser that started it: others only watch
        if id:
            register(id, self)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._progress, self._start = initial, initial.share()  # part of it may be done already
        self._started = time.monotonic()
        self._followers: set[str] = set()  # ids of sessions
        self._ended = threading.Event()
        self.follow()
        if self._followers and not lasting:
            threading.Thread(target=self._watch, name=f"{name} tabs", daemon=True).start()
        threading.Thread(
            target=self._run,
            args=(work,),
            name=name,
            daemon=True,
        ).start()

    def follow(self) -> None:
        """Count the tab of this session, if there is one, among those that follow the job."""
        session = get_script_run_ctx(suppress_warning=True)
        if session:
            self._followers.add(session.session_id)

    def _watch(self) -> None:
        seen = time.monotonic()
        while not self._ended.wait(LOOK):
            if any(map(is_open, tuple(self._followers))):
                seen = time.monotonic()
            elif time.monotonic() - seen > ALONE:
                return self.stop()

    def stop(self) -> None:
        """Ask the job to end with the results it has."""
        self._stop.set()

    @property
    def running(self) -> bool:
        with self._lock:
            return self._progress.running

    def progress(self) -> P:
        """Return the current progress; all values in it are frozen."""
        with self._lock:
            now = self._progress
            if not now.running:
                return now
            elapsed, share = self._elapsed(), now.share()
            done = share - self._start
            left = elapsed * (1 - share) / done if done > 0 else None
            return replace(
                now,
                seconds=elapsed,
                seconds_left=left,
                stopping=self._stop.is_set(),
            )

    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _update(self, **changes: Any) -> P:
        """Change the progress, and return it."""
        with self._lock:
            self._progress = replace(self._progress, **changes)
            return self._progress

    def _run(self, work: Work[P]) -> None:
        error = detail = ""
        try:
            work(self._stop, self._update)
        except Exception as problem:  # the page must not block indefinitely
            error, detail = explain(problem)
        self._update(
            running=False,
            seconds=self._elapsed(),
            error=error,
            detail=detail,
        )
        self._ended.set()


def is_open(session: str) -> bool:
    """Return True while the tab of a session is connected."""
    return Runtime.exists() and Runtime.instance().is_active_session(session)


def in_turns(owner: str, stop: threading.Event, steps: Iterable[T]) -> Iterator[T]:
    """Run each step under the fair queue, so that long jobs don't block others.

    No step may take a turn itself: with a single turn it would block indefinitely.
    """
    from attribution.fair_queue import each_in_turn

    for step in each_in_turn(owner, stop, steps):
        if not isinstance(step, Queued):
            yield step


def waits(job: Job[Any]) -> bool:
    """Return True if whoever started a job waits for a turn."""
    from attribution.fair_queue import turns

    return turns().waits(job.starter)


_jobs: WeakValueDictionary[str, Job[Any]] = WeakValueDictionary()  # by the id of their result


def register(result_id: str, job: Job[Any]) -> None:
    """Let a page that is opened by the address of a result find the job that computes it."""
    _jobs[result_id] = job


def find(result_id: str) -> Job[Any] | None:
    """Return the job of this process that is computing a result. Finished results are in the
    database.
    """
    job = _jobs.get(result_id)
    return job if job is not None and job.running else None


@dataclass(frozen=True)
class Computation(JobProgress, Generic[T]):
    """The value of a computation; None until it is done, and after an error."""

    key: object
    value: T | None = None


def compute(key: object, function: Callable[[], T]) -> Job[Computation[T]]:
    """Compute one value in the background; `key` is what it depends on."""

    def work(_stop: threading.Event, update: Callable[..., Computation[T]]) -> None:
        update(value=function())

    return Job("computation", Computation[T](key), work)


# --- the page of a job ---


class JobPage(Generic[P]):
    """The job of a page, and the result to show while there is none.

    `name` is the parameter of the address that names a result, `what` the result in the sentences
    of the page; `read` loads a saved one. A page starts a job with `launch` and draws everything
    with `draw`.
    """

    def __init__(
        self,
        name: str,
        what: str = "result",
        read: Callable[[Store, str], P | None] = lambda database, id: None,
        poll: float = 0.5,  # seconds between two looks at a job
    ) -> None:
        self.name, self.what, self._read, self._poll = name, what, read, poll

    # --- the job ---

    def job(self) -> Job[P] | None:
        """Return the job that computes, or has computed, the result."""
        job: Job[P] | None = state.get(self.name)
        return job

    def launch(self, initial: P, work: Work[P], id: str = "", lasting: bool = False) -> None:
        """Start a job, unless one is running; `id` is that of its result. A lasting one continues
        without its tab.
        """
        if not self.is_running():
            self.start(
                Job(
                    self.name,
                    initial,
                    work,
                    id,
                    lasting,
                )
            )

    def start(self, job: Job[P] | None) -> None:
        """Follow a job from now on; None: show a result in its place."""
        if job is not None:
            job.starter = job.starter or state.browser()
            job.follow()
            state.put(f"{self.name}_id", job.id)
        state.put(self.name, job)
        state.put(f"{self.name}_notice", None)

    def stop(self) -> None:
        """End the job with the results it has; a job of another browser continues, but is no longer
        shown.
        """
        job = self.job()
        if job is not None and self.is_own():
            job.stop()
        elif job is not None:
            self.show(None)

    def is_running(self) -> bool:
        job = self.job()
        return job is not None and job.running

    def is_own(self) -> bool:
        """Return False while a job of another browser is running."""
        job = self.job()
        return job is None or not job.running or job.starter == state.browser()

    # --- the result ---

    def show(self, result: P | None) -> None:
        """Show a result, or none, in place of a job."""
        self.start(None)
        self.remember(result)

    def clear(self) -> None:
        """Show no result, and take it out of the address."""
        self.show(None)
        st.query_params.pop(self.name, None)

    def remember(self, result: P | None) -> None:
        """Keep the result to show once there is no job."""
        state.put(f"shown_{self.name}", result)

    def shown(self) -> P | None:
        """Return the result to show if there is no job."""
        shown: P | None = state.get(f"shown_{self.name}")
        return shown

    def current(self) -> P | None:
        """Return what to show: the progress of the last job, else the result opened last."""
        job = self.job()
        now = job.progress() if job else self.shown()
        if now and self.id():
            state.show_address(**{self.name: self.id()})
        return now

    def follow(self, id: str) -> Job[P] | None:
        """Return this process's job that is computing a result, and show it from now on."""
        job = find(id)
        if job:
            self.start(job)
        return job

    def open(self, id: str) -> P | None:
        """Show the result that an address names, saved or in progress."""
        job = self.follow(id)
        if job:
            return job.progress()
        result, reason = saved(lambda database: self._read(database, id))
        if result:
            self.show(result)
            state.put(f"{self.name}_id", id)
        self.refuse(reason)
        return result

    def id(self) -> str:
        """Return the id of what is shown; empty if it has no address."""
        job = self.job()
        return job.id if job else str(state.get(f"{self.name}_id") or "")

    def refuse(self, reason: str, title: str = "") -> None:
        """Say in place of the result why there is none; an empty reason says nothing."""
        title = title or f"The saved {self.what} cannot be shown"
        state.put(f"{self.name}_notice", (title, reason) if reason else None)

    # --- drawing ---

    def draw(self, form: Callable[[bool], None], result: Callable[[P], None]) -> bool:
        """Draw the form, and below it the result, which is redrawn while the job runs. Return True
        while it runs.
        """
        running = self.is_running()  # asked once, so that form and result agree
        form(running)
        self.draw_result(running, result)
        return running

    def draw_result(self, running: bool, result: Callable[[P], None]) -> None:
        st.fragment(self._live, run_every=self._poll if running else None)(running, result)

    def _live(self, polling: bool, result: Callable[[P], None]) -> None:
        if polling != self.is_running():
            st.rerun()  # the form has to change too
        now = self.current()
        # what follows the container keeps its place, and is not drawn anew
        with st.container(key=f"progress_{self.name}"):
            self.draw_notice()
            if now and now.running and now.doing():
                self._draw_progress(now)
            if now and now.error:
                title = f"The {self.what} could not be finished"
                note(
                    title,
                    now.error,
                    label="contradicted",
                    detail=now.detail,
                )
        if now:
            result(now)

    def _draw_progress(self, now: P) -> None:
        job, doing = self.job(), now.doing()
        if not now.stopping and job and waits(job):
            doing = "Waiting for its turn …"
        elif now.seconds_left is not None and not now.stopping:
            doing = f"{doing} {time_left(now.seconds_left)}"
        status_line(doing)
        progress_bar(now.share(), f"Progress of the {self.what}")

    def draw_notice(self) -> None:
        """Draw why a result cannot be shown."""
        notice = state.get(f"{self.name}_notice")
        if notice:
            note(*notice)

    def buttons(
        self,
        start: str,
        on_start: Callable[[], None],
        running: bool,
        ready: bool,
        before: Callable[[], None] | None = None,
        stop: bool = True,
    ) -> None:
        """Draw the buttons of a page, `before` in front of them; Stop may stand elsewhere."""
        own = self.is_own()
        watching = "Another browser started this, and it continues there."
        with st.container(
            key="go", horizontal=True, horizontal_alignment="right", vertical_alignment="center"
        ):
            if before:
                before()
            if stop:
                st.button(
                    "Stop" if own else "Stop watching",
                    on_click=self.stop,
                    disabled=not running,
                    key="stop",
                    help="The results so far are kept. (Esc)" if own else watching,
                )
            st.button(
                start,
                type="primary",
                on_click=on_start,
                disabled=running or not ready,
                key="start",
                help="Start with what is filled in. (Ctrl+Enter)",
            )
