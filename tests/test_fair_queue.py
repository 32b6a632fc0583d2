import threading
from collections.abc import Iterator

import pytest

from attribution.errors import BadInput, Busy
from attribution.events import Queued
from attribution.fair_queue import Turns, in_turn
from attribution.server_settings import SERVER, server_number

STOP = threading.Event()
Run = Iterator[object]


def run(owner: str, turns: Turns, stop: threading.Event = STOP) -> Run:
    """A run of two steps in a queue; its first event says whether it has its turn."""
    return iter(in_turn(owner, stop, lambda: iter(["runs", "on"]), turns))


def events(runs: dict[str, Run], *names: str) -> list[object]:
    return [next(runs[name]) for name in names]


def test_each_owner_has_a_turn_before_an_owners_second_run() -> None:
    turns = Turns(1)
    runs = {name: run(name[0], turns) for name in ("a1", "a2", "b1", "c1")}
    assert events(runs, "a1", "a2", "b1", "c1") == ["runs", Queued(1), Queued(1), Queued(2)]
    for ended, next_one in (("a1", "b1"), ("b1", "c1"), ("c1", "a2")):
        list(runs[ended])
        assert events(runs, next_one) == ["runs"]


def test_a_run_that_is_stopped_while_it_waits_leaves_the_queue() -> None:
    turns, stop = Turns(1), threading.Event()
    first, second = run("a", turns), run("b", turns, stop)
    assert [next(first), next(second)] == ["runs", Queued(1)]
    stop.set()
    assert list(second) == []
    assert turns.counts() == (1, 0)


def test_a_run_that_fails_or_is_left_gives_its_turn_back() -> None:
    turns = Turns(1)

    def fails() -> Iterator[str]:
        yield "runs"
        raise ValueError

    with pytest.raises(ValueError):
        list(in_turn("a", STOP, fails, turns))
    left = in_turn("a", STOP, lambda: iter(["runs", "on"]), turns)
    assert next(left) == "runs"
    left.close()
    assert turns.counts() == (0, 0)


def test_more_than_can_wait_are_refused() -> None:
    turns = Turns(1, waiting=1)
    first, second = run("a", turns), run("b", turns)
    assert [next(first), next(second)] == ["runs", Queued(1)]
    with pytest.raises(Busy, match="1 runs are waiting"):
        next(run("c", turns))


@pytest.mark.parametrize("owners", ["aaa", "abc"], ids=["one owner", "one address"])
def test_an_owner_or_address_takes_a_quarter_of_the_places_to_wait(owners: str) -> None:
    turns = Turns(1, waiting=8)
    for owner in owners:
        turns.locate(owner, "192.0.2.1")
    waiting = [run(owner, turns) for owner in ("x", *owners[:2])]
    assert [next(one) for one in waiting] == ["runs", Queued(1), Queued(2)]
    with pytest.raises(Busy):
        next(run(owners[2], turns))
    assert next(run("d", turns)) == Queued(2)


def test_an_address_with_many_owners_has_the_turns_of_one() -> None:
    turns = Turns(1)
    for owner in "abc":
        turns.locate(owner, "192.0.2.1")
    runs = {name: run(name[0], turns) for name in ("a1", "b1", "c1", "d1", "a2")}
    started = events(runs, "a1", "b1", "c1", "d1", "a2")
    assert started == ["runs", Queued(1), Queued(2), Queued(1), Queued(4)]
    for ended, next_one in (("a1", "d1"), ("d1", "b1"), ("b1", "c1"), ("c1", "a2")):
        list(runs[ended])
        assert events(runs, next_one) == ["runs"]


def test_an_owner_never_has_all_turns() -> None:
    turns = Turns(3, each=2)
    runs = {name: run(name[0], turns) for name in ("a1", "a2", "a3", "b1")}
    assert events(runs, "a1", "a2", "a3", "b1") == ["runs", "runs", Queued(1), "runs"]


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
