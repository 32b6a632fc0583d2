import threading
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from attribution import fair_queue
from attribution.fair_queue import Turns
from attribution.settings import Settings
from attribution.store.store import Store
from tests.make import report
from tests.pages.jobs import opened, text
from tests.serve import until

ANSWER = "The Nile flows north. It is 6,650 km long."


@pytest.fixture(autouse=True)
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Turns]:
    """A queue whose only turn somebody else has."""
    turns = Turns(1)
    monkeypatch.setattr(fair_queue, "turns", lambda: turns)
    with turns.ticket("somebody else") as ticket:
        assert not list(turns.wait(ticket, threading.Event()))
        yield turns


def shown(at: AppTest) -> str:
    """Return what is drawn as HTML, and what the answer's component is given."""
    return text(at) + "".join(str(part.proto) for part in at.get("bidi_component"))


def waits_and_is_stopped(at: AppTest, start: str) -> None:
    at.button(key=start).click().run()
    until(lambda: "Waiting: place 1 in the queue" in shown(at.run()))
    at.button(key="stop").click().run()
    until(lambda: "stop" not in {b.key for b in at.run().button})


def test_a_run_stopped_in_the_queue_says_so_and_starts_again(store: Store, busy: Turns) -> None:
    at = opened("check", "owner")
    next(box for box in at.text_area if box.label == "Answer").set_value(ANSWER).run()
    for _ in range(2):  # started again, it waits again
        waits_and_is_stopped(at, "start")
        assert "The run was stopped in the queue" in shown(at)
        assert next(box for box in at.text_area if box.label == "Answer").value == ANSWER
        assert not at.button(key="start").disabled
        assert busy.counts() == (1, 0)


def test_a_run_stopped_in_the_queue_as_it_is_continued_can_be_continued_again(
    settings: Settings, store: Store
) -> None:
    started = report(ANSWER, id="cut", settings=settings.public())
    Store(store.database, "owner").runs.start(started)
    at = opened("check", "owner", run="cut")
    for _ in range(2):
        waits_and_is_stopped(at, "continue")
        assert "Interrupted: " in shown(at)
