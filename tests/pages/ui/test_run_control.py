import threading
from collections.abc import Callable, Iterator

import pytest

from attribution.errors import BadInput, Unavailable
from attribution.events import (
    ClaimsReady,
    Event,
    Failed,
    Finished,
    PageReady,
    Progress,
    Spent,
    StageStarted,
    VerdictReady,
)
from attribution.settings import Settings
from attribution.types import Failure, Report
from pages.ui.run_control import RunJob, RunProgress
from tests import make
from tests.make import claim, evidence, page, verdict
from tests.pages.jobs import ended
from tests.serve import until

CLAIM = claim()
PIECE = evidence(CLAIM, 0.9, 0.05, "entailed")
VERDICT = verdict(CLAIM)
FAILURE = Failure(stage="fetch", subject="x", kind="unreadable", message="no")
Events = Callable[[threading.Event], Iterator[Event]]


def job(events: Events) -> RunJob:
    report = Report.blank("A question?", "An answer.", Settings().public())
    return RunJob(RunProgress(report), events)


def test_events_build_up_a_report_until_stop() -> None:
    def events(stop: threading.Event) -> Iterator[Event]:
        yield StageStarted("segment")
        yield ClaimsReady((CLAIM,))
        yield PageReady(page("text"))
        yield Failed(FAILURE)
        yield VerdictReady(VERDICT.model_copy(update={"label": "no_relation"}), ())
        yield VerdictReady(VERDICT, (PIECE,))
        yield Spent(3, 2, 1.5)
        yield Progress("verify", 1, 2)
        stop.wait(10)

    made = job(events)
    until(lambda: "verify" in made.progress().units)
    state = made.progress()
    assert state.running
    assert state.accepted
    assert state.units == {"verify": (1, 2)}
    assert state.version == 3
    assert state.report.verdicts == (VERDICT,)
    assert state.report.evidence == (PIECE,)
    used = state.report.usage
    assert (used.queries, used.downloads, used.seconds) == (3, 2, 1.5)
    assert len(state.report.pages) == 1
    assert state.report.failures == (FAILURE,)
    made.stop()
    assert ended(made).report.verdicts == (VERDICT,)


def test_the_finished_report_is_the_pipelines() -> None:
    report = make.report(stopped=True)
    state = ended(job(lambda stop: iter([StageStarted("segment"), Finished(report)])))
    assert state.report is report
    assert not state.error
    assert state.seconds > 0


@pytest.mark.parametrize(
    ("error", "part", "words"),
    [
        (BadInput("too long"), "rejected", "too long"),
        (Unavailable("no model"), "error", "no model"),
        (KeyError("bug"), "error", "unexpected error"),
    ],
)
def test_what_stands_in_the_way_is_said(error: Exception, part: str, words: str) -> None:
    def events(stop: threading.Event) -> Iterator[Event]:
        raise error
        yield

    state = ended(job(events))
    assert words in getattr(state, part)
    assert not state.accepted
