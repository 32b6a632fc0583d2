"""Draw a page with one job: start it in the background, follow it, stop it, and show its result
under an address.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import streamlit as st

from attribution.store.store import Store
from pages.ui import background, state
from pages.ui.background import Job, JobProgress, Work
from pages.ui.frame import note, progress_bar, status_line
from pages.ui.state import saved

P = TypeVar("P", bound=JobProgress)


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
        job = background.find(id)
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
        if not now.stopping and job and background.waits(job):
            doing = "Waiting for its turn …"
        elif now.seconds_left is not None and not now.stopping:
            doing = f"{doing} {background.time_left(now.seconds_left)}"
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
