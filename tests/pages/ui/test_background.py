import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from streamlit.testing.v1 import AppTest

from attribution.errors import Unavailable
from pages.ui.background import Job, JobPage, JobProgress, compute, find, register
from tests.pages.jobs import ended, text


def test_a_value_is_computed_and_an_error_leaves_none() -> None:
    assert ended(compute("key", lambda: 7)).value == 7
    failed = ended(compute("key", lambda: 1 // 0))
    assert failed.value is None
    assert failed.detail == "ZeroDivisionError: integer division or modulo by zero"
    assert "ZeroDivisionError" not in failed.error
    assert "unexpected error" in failed.error


def test_a_stopped_job_says_that_it_is_stopping_and_keeps_its_clock() -> None:
    go = threading.Event()

    def work(stop: threading.Event, update: Callable[..., JobProgress]) -> None:
        assert stop.wait(5)
        assert go.wait(5)

    job = Job("test", JobProgress(), work)
    assert job.running
    assert not job.progress().stopping
    job.stop()
    assert job.progress().stopping
    go.set()
    now = ended(job)
    assert not now.stopping
    assert not now.error
    assert now.seconds > 0
    time.sleep(0.02)
    assert job.progress().seconds == now.seconds


def test_the_time_left_follows_from_what_this_job_has_done() -> None:
    @dataclass(frozen=True)
    class Shared(JobProgress):
        done: float = 0.5  # before the job was started

        def share(self) -> float:
            return self.done

    def work(stop: threading.Event, update: Callable[..., Shared]) -> None:
        stop.wait(5)

    job = Job("test", Shared(), work)
    assert job.progress().seconds_left is None
    job._update(done=0.6)
    now = job.progress()
    assert now.seconds_left == pytest.approx(4 * now.seconds)
    job.stop()
    assert ended(job).seconds_left is None


def test_a_job_is_found_by_its_result_while_it_runs() -> None:
    job = Job("test", JobProgress(), lambda stop, update: None if stop.wait(5) else None)
    register("a result", job)
    assert find("a result") is job
    assert find("another") is None
    job.stop()
    ended(job)
    assert find("a result") is None  # it may have been deleted since


@dataclass(frozen=True)
class Counted(JobProgress):
    count: int = 0

    def doing(self) -> str:
        return f"{self.count} counted …"


GO = threading.Event()


def count(stop, update):
    update(count=1)
    while not (stop.is_set() or GO.is_set()):
        stop.wait(0.01)
    if GO.is_set():
        raise Unavailable("the model went away")


JOB: JobPage[Counted] = JobPage("counted", "count", lambda database, id: None)
SCRIPT = """
import streamlit as st
from pages.ui import state
from tests.pages.ui.test_background import JOB, Counted, count
if state._BROWSER not in st.session_state:
    st.session_state[state._BROWSER] = st.query_params["browser"]
    if "counted" in st.query_params:
        JOB.open(st.query_params["counted"])
def result(now):
    if not now.running:
        st.html(f"{now.count} in the end")
JOB.draw(lambda running: JOB.buttons("Count", lambda: JOB.launch(Counted(), count, "c" * 16), running, True), result)
"""


def visited(browser: str, **address: str) -> AppTest:
    page = AppTest.from_string(SCRIPT, default_timeout=30)
    page.query_params["browser"] = browser
    for name, value in address.items():
        page.query_params[name] = value
    return page.run()


@pytest.mark.usefixtures("store")
def test_a_job_is_started_watched_stopped_and_shown() -> None:
    GO.clear()
    owner = visited("owner")
    assert {b.label: b.disabled for b in owner.button} == {"Count": False, "Stop": True}
    owner.button(key="start").click().run()
    job = owner.session_state["_page_counted"]
    assert "counted …" in text(owner)
    assert owner.query_params["counted"] == "c" * 16
    watcher = visited("watcher", counted="c" * 16)
    assert watcher.button(key="stop").label == "Stop watching"
    assert "counted …" in text(watcher)
    watcher.button(key="stop").click().run()
    assert job.running
    assert "counted …" not in text(watcher)
    owner.button(key="stop").click().run()
    ended(job)
    assert "1 in the end" in text(owner.run())
    assert owner.button(key="start").disabled is False


@pytest.mark.usefixtures("store")
def test_an_error_and_an_unknown_address_say_so() -> None:
    GO.set()
    page = visited("owner")
    page.button(key="start").click().run()
    ended(page.session_state["_page_counted"])
    assert "The count could not be finished" in text(page.run())
    assert "The model went away" in text(page)
    assert "1 in the end" in text(page)  # what was known stays
    lost = visited("owner", counted="nowhere")
    assert "The saved count cannot be shown" in text(lost)
    assert "not in this server" in text(lost)
