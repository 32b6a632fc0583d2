import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pages.ui.background import Job, JobProgress, compute, find, register
from tests.pages.jobs import ended


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
