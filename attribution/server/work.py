"""Run clients' requests in the fair queue, each only while its client waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import HTTPException, Request

from attribution.errors import Unavailable
from attribution.events import Queued
from attribution.fair_queue import Turns, in_turn
from attribution.models.engine import stoppable
from attribution.pipeline.judge import JudgedClaim, judge
from attribution.server.bodies import GivenPassage, check_compared
from attribution.settings import Settings
from attribution.verdicts import DecisionPolicy
from attribution.verifiers import VERIFIERS

T = TypeVar("T")
Steps = Callable[[threading.Event], Iterator[T]]  # work that stops when the event is set
CLIENT_LEFT = HTTPException(499, "the client has left")


def judge_claim(
    claim: str, given: Sequence[str | GivenPassage], settings: Settings, stop: threading.Event
) -> JudgedClaim:
    """Return the verdict on a claim by given passages.

    Raises:
        BadInput: A passage is empty, or all together are too long.
    """
    rows = [
        {"text": one} if isinstance(one, str) else one.model_dump(exclude_none=True)
        for one in given
    ]
    check_compared(text for row in rows for text in (claim, *row.values()))
    verifier = VERIFIERS.chosen(settings)
    with stoppable(stop):
        return judge(claim, rows, verifier, DecisionPolicy.of(dict(settings)))


@dataclass(frozen=True)
class _Item:
    """A result of a work thread; the last one has no value, and an error if the work failed."""

    value: Any = None
    error: Exception | None = None


class Work:
    """Clients' requests, run in threads under the fair queue while the event loop waits."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self._is_ending = False
        self.waiting: set[asyncio.Queue[_Item]] = set()

    def end(self) -> None:
        """Answer all waiting clients as the server shuts down."""
        self._is_ending = True
        for results in self.waiting:
            results.put_nowait(_Item(error=_shutdown()))

    async def events(self, owner: str, work: Steps[T]) -> AsyncGenerator[T | Queued]:
        """Run work in a thread and yield its places in the queue, then its results.

        Args:
            owner: The client, for the fair queue.
            work: Receives an event that is set when the client leaves.

        Raises:
            Busy: Too many clients wait.
        """
        if self._is_ending:
            raise _shutdown()
        loop = asyncio.get_running_loop()
        stop = threading.Event()
        results: asyncio.Queue[_Item] = asyncio.Queue()

        def put(item: _Item) -> None:
            with suppress(RuntimeError):  # the event loop has ended
                loop.call_soon_threadsafe(results.put_nowait, item)

        def run() -> None:
            try:
                for event in in_turn(owner, stop, lambda: work(stop), self.turns):
                    put(_Item(event))
                put(_Item())
            except Exception as error:  # raised again by the reader
                put(_Item(error=error))

        threading.Thread(target=run, name="api work", daemon=True).start()
        self.waiting.add(results)
        try:
            item = await results.get()
            while item.value is not None:
                yield item.value
                item = await results.get()
            if item.error:
                raise item.error
        finally:
            self.waiting.discard(results)
            stop.set()

    async def result(
        self,
        owner: str,
        request: Request | None,
        work: Steps[T],
    ) -> T:
        """Return the last result of the work, which stops when the client of the request leaves.

        Args:
            owner: The client, for the fair queue.
            request: None if the client cannot leave (standard input).
            work: As for `events`.
        """

        async def last_result() -> T:
            result = None
            async with aclosing(self.events(owner, work)) as events:
                async for event in events:
                    if not isinstance(event, Queued):
                        result = event
            if result is None:
                raise CLIENT_LEFT
            return result

        working = asyncio.create_task(last_result())
        leaving = asyncio.create_task(_disconnect(request))
        try:
            await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise CLIENT_LEFT
            return working.result()
        finally:
            working.cancel()
            leaving.cancel()


def _shutdown() -> Unavailable:
    return Unavailable("the server is being stopped: try again in a minute")


async def _disconnect(request: Request | None) -> None:
    """Return when the client has left; the request's body must have been read."""
    if request is None:
        await asyncio.Event().wait()
        return
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return
