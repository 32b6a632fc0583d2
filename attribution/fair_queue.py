"""A fair queue for a scarce resource: a limit on concurrent runs, and a fair order for those that
wait.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import TypeVar

from attribution.errors import Busy
from attribution.events import Queued
from attribution.server_settings import server_number

WAITING = 200  # runs that may wait; more would wait too long to be worth their memory
LOCATED = 10_000  # owners whose address is known
NO_MORE = "no more are taken: try again in a few minutes"
LOOK = 0.2  # seconds between two checks of a waiting run's stop signal
Event = TypeVar("Event")


@dataclass(eq=False)
class Ticket:
    """A run, or a file to read, that waits for its turn or has it."""

    owner: Hashable
    running: bool = False


class Turns:
    """A queue with at most `limit` runs at once, `each` per owner.

    Addresses take turns, and so do the owners of each: one with many cookies gains nothing. Of the
    places to wait, an address takes at most a quarter, so that the others find some.
    """

    def __init__(self, limit: int, waiting: int = WAITING, each: int = 0) -> None:
        self._limit, self._most, self._each = limit, waiting, each or limit
        self._share = max(1, waiting // 4)
        self._tickets: list[Ticket] = []
        self._served: dict[Hashable, int] = {}  # the last turn of each owner
        self._turn = count(1)
        self._changed = threading.Condition()
        self._addresses: OrderedDict[Hashable, str] = OrderedDict()  # by owner

    def locate(self, owner: Hashable, address: str) -> None:
        """Count an owner among those of an address; without one, it is alone at its own."""
        with self._changed:
            self._addresses[owner] = address
            self._addresses.move_to_end(owner)
            if len(self._addresses) > LOCATED:
                self._addresses.popitem(last=False)

    def _address(self, owner: Hashable) -> Hashable:
        return self._addresses.get(owner, owner)

    def counts(self) -> tuple[int, int]:
        """Return the numbers of active and waiting runs."""
        with self._changed:
            running = sum(t.running for t in self._tickets)
            return running, len(self._tickets) - running

    def waits(self, owner: Hashable) -> bool:
        """Return True if the owner waits for a turn and has none."""
        with self._changed:
            own = [t.running for t in self._tickets if t.owner == owner]
        return bool(own) and not any(own)

    def check(self, owner: Hashable) -> None:
        """Raise Busy if the owner's next run would be refused."""
        with self._changed:
            waiting = [self._address(t.owner) for t in self._tickets if not t.running]
            own = waiting.count(self._address(owner))
        if len(waiting) >= self._most:
            raise Busy(f"{len(waiting)} runs are waiting, and {NO_MORE}")
        if own >= self._share:
            raise Busy(f"{own} runs of yours or of your address are waiting, and {NO_MORE}")

    @contextmanager
    def ticket(self, owner: Hashable, again: bool = False) -> Iterator[Ticket]:
        """Take a place in the queue and give it back at the end. Raises Busy if too many wait.

        Work that was begun queues `again` for its next part, which is never refused.
        """
        with self._changed:
            if not again:
                self.check(owner)
            ticket = Ticket(owner)
            self._tickets.append(ticket)
        try:
            yield ticket
        finally:
            with self._changed:
                self._tickets.remove(ticket)
                present = {t.owner for t in self._tickets}
                present |= {self._address(owner) for owner in present}
                self._served = {who: n for who, n in self._served.items() if who in present}
                self._changed.notify_all()

    def wait(self, ticket: Ticket, stop: threading.Event) -> Iterator[int]:
        """Yield the place in the queue, from 1, whenever it changes, until the ticket has its turn
        or is stopped.
        """
        reported = 0
        while not stop.is_set():
            with self._changed:
                place = self._place(ticket)
                if not place:
                    return
                if place == reported:
                    self._changed.wait(LOOK)
                    continue
            reported = place
            yield place

    def _place(self, ticket: Ticket) -> int:
        """Return the place in the queue; 0 for a ticket that has its turn, or gets it now."""
        if ticket.running:
            return 0
        by_owner = self._by_round(self._tickets, lambda t: t.owner)
        order = self._by_round(by_owner, lambda t: self._address(t.owner))
        running = Counter(t.owner for t in self._tickets if t.running)
        free = self._limit - running.total()
        allowed = []
        for waiting in order:
            if running[waiting.owner] < self._each:
                allowed.append(waiting)
            running[waiting.owner] += 1
        if ticket not in allowed[:free]:
            return order.index(ticket) + 1
        ticket.running = True
        turn = next(self._turn)
        self._served[ticket.owner] = self._served[self._address(ticket.owner)] = turn
        self._changed.notify_all()
        return 0

    def _by_round(
        self, tickets: Sequence[Ticket], group: Callable[[Ticket], Hashable]
    ) -> list[Ticket]:
        """Return the waiting tickets in an order in which groups take turns."""
        taken = Counter(group(t) for t in self._tickets if t.running)
        rounds = {}
        for position, waiting in enumerate(t for t in tickets if not t.running):
            own = group(waiting)
            rounds[waiting] = (taken[own], self._served.get(own, 0), position)
            taken[own] += 1
        return sorted(rounds, key=rounds.__getitem__)


# --- turns of runs on one server ---


@cache
def turns() -> Turns:
    """Return the queue of this process, shared by its web pages and its API."""
    return Turns(server_number("ATTRIBUTION_RUNS"))


def in_turn(
    owner: str,
    stop: threading.Event,
    run: Callable[[], Iterator[Event]],
    among: Turns | None = None,
) -> Iterator[Queued | Event]:
    """Yield the places of a run in the queue, then its events once it has its turn; no events if
    stopped before that.

    Raises:
        Busy: Too many wait.
    """
    queue = among or turns()
    with queue.ticket(owner) as ticket:
        for place in queue.wait(ticket, stop):
            yield Queued(place)
        if ticket.running:
            yield from run()


def each_in_turn(
    owner: str, stop: threading.Event, steps: Iterable[Event]
) -> Iterator[Queued | Event]:
    """Run each step under the fair queue, so that long jobs don't block others.

    Work that is stopped before its first turn yields nothing; later it ends by itself.

    Raises:
        Busy: Too many wait.
    """
    queue, remaining = turns(), iter(steps)
    is_started = False
    while True:
        with queue.ticket(owner, is_started) as ticket:
            for place in queue.wait(ticket, stop):
                yield Queued(place)
            if not ticket.running:
                break
            try:
                step = next(remaining)
            except StopIteration:
                return
        is_started = True
        yield step
    if is_started:
        yield from remaining
