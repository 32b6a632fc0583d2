import threading
from collections.abc import Iterator

import pytest

from attribution.errors import BadInput, Busy
from attribution.events import Queued
from attribution.pipeline.run import Turns, in_turn
from attribution.settings import SERVER, server_number
from tests.serve import until


class Runs:
    """Runs that last until they are let go, and what happened to them, in order."""

    def __init__(self, turns: Turns) -> None:
        self.turns, self.log, self.threads = turns, [], []
        self.let_go = {}
        self.stops: dict[str, threading.Event] = {}
        self._lock, self._most, self._now = threading.Lock(), 0, 0

    def start(self, owner: str, name: str) -> None:
        self.let_go[name], self.stops[name] = threading.Event(), threading.Event()
        thread = threading.Thread(target=self._consume, args=(owner, name))
        self.threads.append(thread)
        known = sum(self.turns.counts())
        thread.start()
        until(lambda: sum(self.turns.counts()) > known)

    def _consume(self, owner: str, name: str) -> None:
        for event in in_turn(owner, self.stops[name], lambda: self._run(name), self.turns):
            self.log.append((name, event.place if isinstance(event, Queued) else event))

    def _run(self, name: str) -> Iterator[str]:
        with self._lock:
            self._now += 1
            self._most = max(self._most, self._now)
        yield "runs"
        self.let_go[name].wait(20)
        with self._lock:
            self._now -= 1

    def running(self) -> list[str]:
        return [name for name, event in self.log if event == "runs"]

    def end(self) -> None:
        for event in self.let_go.values():
            event.set()
        for thread in self.threads:
            thread.join(20)
        assert self.turns.counts() == (0, 0)


@pytest.fixture
def runs() -> Iterator[Runs]:
    made = Runs(Turns(1))
    yield made
    made.end()


def test_one_at_a_time_and_each_owner_in_turn(runs: Runs) -> None:
    for owner, name in (("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1")):
        runs.start(owner, name)
    until(lambda: ("c1", 2) in runs.log)
    assert ("b1", 1) in runs.log  # it came before those of a that wait
    for name in ("a1", "b1", "c1", "a2", "a3"):  # the second of a waits for the first of b and c
        until(lambda name=name: runs.running()[-1:] == [name])
        assert runs.turns.counts()[0] == 1
        runs.let_go[name].set()
    until(lambda: runs.turns.counts() == (0, 0))
    assert runs._most == 1


def test_stopping_a_run_that_waits_takes_it_out(runs: Runs) -> None:
    runs.start("a", "a1")
    until(lambda: runs.running() == ["a1"])
    runs.start("b", "b1")
    runs.start("c", "c1")
    runs.stops["b1"].set()
    until(lambda: runs.turns.counts() == (1, 1))
    runs.let_go["a1"].set()
    until(lambda: runs.running() == ["a1", "c1"])
    assert ("b1", "runs") not in runs.log


def test_a_run_that_fails_gives_its_place_back() -> None:
    turns, stop = Turns(1), threading.Event()

    def fails() -> Iterator[str]:
        yield "runs"
        raise ValueError

    with pytest.raises(ValueError):
        list(in_turn("a", stop, fails, turns))
    left = in_turn("a", stop, lambda: iter(["runs", "on"]), turns)
    assert next(left) == "runs"
    assert turns.counts() == (1, 0)
    left.close()  # nobody reads on
    assert turns.counts() == (0, 0)


def test_more_than_can_wait_are_refused() -> None:
    turns, stop = Turns(1, waiting=1), threading.Event()
    first = in_turn("a", stop, lambda: iter(["runs", "on"]), turns)
    next(first)
    second = in_turn("b", stop, lambda: iter(["runs"]), turns)
    assert next(second) == Queued(1)
    with pytest.raises(Busy, match="1 runs are waiting"):
        next(in_turn("c", stop, lambda: iter(["runs"]), turns))
    first.close()
    assert list(second) == ["runs"]


def test_an_owner_takes_a_quarter_of_the_places_to_wait() -> None:
    turns, stop = Turns(1, waiting=8), threading.Event()
    runs = [in_turn(owner, stop, lambda: iter(["runs"]), turns) for owner in "aaabb"]
    assert [next(run) for run in runs[:3]] == ["runs", Queued(1), Queued(2)]
    with pytest.raises(Busy, match="2 runs of yours are waiting"):
        next(in_turn("a", stop, lambda: iter(["runs"]), turns))
    assert [next(run) for run in runs[3:]] == [Queued(1), Queued(2)]  # b has none that runs
    for run in runs:
        run.close()


def test_an_owner_never_has_all_turns_and_the_next_goes_to_who_has_fewest() -> None:
    turns, stop = Turns(3, each=2), threading.Event()
    runs = {
        name: in_turn(name[0], stop, lambda: iter(["runs", "on"]), turns)
        for name in ("a1", "a2", "a3", "b1", "c1")
    }
    assert [next(runs[name]) for name in ("a1", "a2", "a3")] == [
        "runs",
        "runs",
        Queued(1),
    ]  # one turn stays free
    assert [next(runs[name]) for name in ("b1", "c1")] == ["runs", Queued(1)]
    runs["a1"].close()
    assert next(runs["c1"]) == "runs"
    assert turns.counts() == (3, 1)
    for run in runs.values():
        run.close()


@pytest.mark.parametrize("variable", SERVER)
def test_the_numbers_of_a_server_come_from_the_environment(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server_number(variable) == SERVER[variable][0] >= 1
    monkeypatch.setenv(variable, "3")
    assert server_number(variable) == 3
    for wrong in ("none", "0", f"{SERVER[variable][1] + 1}"):
        monkeypatch.setenv(variable, wrong)
        with pytest.raises(BadInput, match=f"{variable}='{wrong}': expected a number from 1 to"):
            server_number(variable)
