import threading
import time
from collections.abc import Callable

import pytest

from attribution.retry import Transient, retrying


def failing(times: int, after: float = 0.0) -> tuple[Callable[[float], str], list[float]]:
    lefts: list[float] = []

    def attempt(left: float) -> str:
        lefts.append(left)
        if len(lefts) <= times:
            raise Transient("busy", after, "503")
        return "done"

    return attempt, lefts


def test_attempts_are_counted_and_get_the_time_left() -> None:
    attempt, lefts = failing(2)
    assert retrying(attempt, 2, 5.0) == "done"
    assert len(lefts) == 3
    assert 5 >= lefts[0] > lefts[1] > lefts[2] > 4
    attempt, lefts = failing(9)
    with pytest.raises(Transient) as caught:
        retrying(attempt, 3, 5.0)
    assert caught.value.tried == "4 times"
    assert caught.value.detail == "503"
    assert len(lefts) == 4


def test_no_pause_is_longer_than_the_time_left_or_the_limit() -> None:
    for seconds, after in ((1.0, 2.0), (3600.0, 31.0)):
        attempt, lefts = failing(9, after)
        started = time.monotonic()
        with pytest.raises(Transient) as caught:
            retrying(attempt, 5, seconds)
        assert caught.value.tried == "once"
        assert time.monotonic() - started < 1.5


def test_stop_ends_a_pause() -> None:
    stop = threading.Event()
    attempt, _ = failing(1, 20.0)
    threading.Timer(0.1, stop.set).start()
    started = time.monotonic()
    assert retrying(attempt, 1, 60.0, stop) == "done"
    assert time.monotonic() - started < 5


def test_other_errors_are_not_tried_again() -> None:
    calls = []

    def attempt(left: float) -> None:
        calls.append(left)
        raise ValueError("no")

    with pytest.raises(ValueError):
        retrying(attempt, 5, 5.0)
    assert len(calls) == 1
