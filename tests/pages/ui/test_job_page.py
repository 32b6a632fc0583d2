import threading
from dataclasses import dataclass

import pytest
from streamlit.testing.v1 import AppTest

from attribution.errors import Unavailable
from pages.ui.background import JobProgress
from pages.ui.job_page import JobPage
from tests.pages.jobs import ended


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
from tests.pages.ui.test_job_page import JOB, Counted, count
if state._BROWSER not in st.session_state:
    st.session_state[state._BROWSER] = st.query_params["browser"]
    if "counted" in st.query_params:
        JOB.open(st.query_params["counted"])
def result(now):
    if not now.running:
        st.text(f"{now.count} in the end")
JOB.draw(lambda running: JOB.buttons("Count", lambda: JOB.launch(Counted(), count, "c" * 16), running, True), result)
"""


def visited(browser: str, **address: str) -> AppTest:
    page = AppTest.from_string(SCRIPT, default_timeout=30)
    page.query_params["browser"] = browser
    for name, value in address.items():
        page.query_params[name] = value
    return page.run()


def text(page: AppTest) -> str:
    assert not page.exception
    return " ".join([*(block.body for block in page.get("html")), *(t.value for t in page.text)])


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
