"""The turns of runs on one server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeVar

from attribution.events import Queued
from attribution.settings import runs_at_once
from attribution.turns import Turns as Turns

T = TypeVar("T")  # an event


@cache
def turns() -> Turns:
    """Of this process: its web pages and its API share them."""
    return Turns(runs_at_once())


def in_turn(
    owner: str, stop: threading.Event, run: Callable[[], Iterator[T]], among: Turns | None = None
) -> Iterator[Queued | T]:
    """The events of a run once it has its turn, before them its places in the queue. Nothing if stopped before that.

    Raises Busy where too many wait.
    """
    queue = among or turns()
    with queue.ticket(owner) as ticket:
        for place in queue.wait(ticket, stop):
            yield Queued(place)
        if ticket.running:
            yield from run()
