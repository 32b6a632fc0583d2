"""Background jobs: threads that report their progress to a session and can be stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attribution.events import Queued
from pages.ui.choices import explain

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
    """Yield what `steps` yields, each made in a turn of its own among all work of this server.

    Nothing that takes turns itself may be among the steps: with a single turn it would block
    indefinitely.
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
    """Compute one value in the background."""

    def work(_stop: threading.Event, update: Callable[..., Computation[T]]) -> None:
        update(value=function())

    return Job("computation", Computation[T](key), work)
