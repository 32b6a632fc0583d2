"""A fair queue for a scarce resource: a limit on concurrent runs, and a fair order for those that
wait.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from itertools import count

from attribution.errors import Busy

WAITING = 200  # runs that may wait; more would wait too long to be worth their memory
LOOK = 0.2  # seconds between two checks of a waiting run's stop signal


class Ticket:
    """A run, or a file to read, that waits for its turn or has it."""

    def __init__(self, owner: Hashable, number: int) -> None:
        self.owner, self.number, self.running = owner, number, False


class Turns:
    """A queue with at most `limit` runs at once, `each` per owner. An owner's second run waits for
    every first one.

    Of the places to wait, an owner takes at most a quarter, so that the others find some.
    """

    def __init__(self, limit: int, waiting: int = WAITING, each: int = 0) -> None:
        self._limit, self._most, self._each = limit, waiting, each or limit
        self._share = max(1, waiting // 4)
        self._numbers = count()
        self._tickets: list[Ticket] = []
        self._served: dict[Hashable, int] = {}  # the last turn of each owner
        self._turn = count(1)
        self._changed = threading.Condition()

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
            owners = [t.owner for t in self._tickets if not t.running]
        if len(owners) >= self._most:
            raise Busy(
                f"{len(owners)} runs are waiting, and no more are taken: try again in a few minutes"
            )
        if owners.count(owner) >= self._share:
            raise Busy(
                f"{self._share} runs of yours are waiting, and no more are taken: try again in a few minutes"
            )

    @contextmanager
    def ticket(self, owner: Hashable, again: bool = False) -> Iterator[Ticket]:
        """Take a place in the queue and give it back at the end. Raises Busy if too many wait.

        Work that was begun queues `again` for its next part, which is never refused.
        """
        with self._changed:
            if not again:
                self.check(owner)
            ticket = Ticket(owner, next(self._numbers))
            self._tickets.append(ticket)
        try:
            yield ticket
        finally:
            with self._changed:
                self._tickets.remove(ticket)
                if all(t.owner != ticket.owner for t in self._tickets):
                    self._served.pop(ticket.owner, None)
                self._changed.notify_all()

    def wait(self, ticket: Ticket, stop: threading.Event) -> Iterator[int]:
        """Yield the place in the queue, from 1, whenever it changes, until the ticket has its turn
        or is stopped.
        """
        reported = 0
        while True:
            with self._changed:
                place = self._place(ticket)
                if not place:
                    return
                if place == reported:
                    self._changed.wait(LOOK)
                    place = self._place(ticket)
            if stop.is_set():
                return
            if place and place != reported:
                reported = place
                yield place

    def _place(self, ticket: Ticket) -> int:
        """Return the place in the queue; 0 for a ticket that has its turn, or gets it now."""
        if ticket.running:
            return 0
        running = Counter(t.owner for t in self._tickets if t.running)
        ahead: Counter[Hashable] = Counter()
        rounds = {}
        for t in self._tickets:  # in the order of arrival
            if not t.running:
                rounds[t] = (
                    running[t.owner] + ahead[t.owner],
                    self._served.get(t.owner, 0),
                    t.number,
                )
                ahead[t.owner] += 1
        order = sorted(rounds, key=rounds.__getitem__)
        allowed = [t for t in order if rounds[t][0] < self._each]
        if ticket in allowed[: self._limit - running.total()]:
            ticket.running, self._served[ticket.owner] = True, next(self._turn)
            self._changed.notify_all()
            return 0
        return order.index(ticket) + 1
