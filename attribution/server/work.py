"""Do the work of clients, each piece in its turn and only while its client waits, and count it for
/metrics.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import HTTPException, Request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attribution.errors import Unavailable
from attribution.events import Queued
from attribution.pipeline.run import Turns, each_in_turn, in_turn

T = TypeVar("T")
CLIENT_LEFT = 499  # a status for the metrics only: the client is gone


@dataclass(frozen=True)
class _Item:
    """A value that the work has yielded; without one, the end of the work and the error that caused
    it, if any.
    """

    value: Any = None
    error: Exception | None = None


class Work:
    """Clients' work, done in turn among `turns`. Clients wait in the event loop, without a thread
    of the pool.
    """

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self._ending = False
        self._open: set[asyncio.Queue[_Item]] = set()

    @property
    def clients(self) -> int:
        """The number of clients that are waiting."""
        return len(self._open)

    def end(self) -> None:
        """Answer all waiting clients when the server shuts down. Runs are not stopped, but kept as
        interrupted.
        """
        self._ending = True
        for items in self._open:
            items.put_nowait(_Item(error=_ending()))

    async def events(
        self, owner: str, work: Callable[[threading.Event], Iterator[T]], by_step: bool = False
    ) -> AsyncGenerator[T | Queued]:
        """Yield places in the queue, then what `work` yields. Its stop signal is set when the
        reader leaves.

        Each of its steps takes a turn of its own if `by_step`, so that the work of others passes
        between them.
        Raises Busy if too many clients wait, and whatever `work` raises.
        """
        if self._ending:
            raise _ending()
        loop, stop, items = asyncio.get_running_loop(), threading.Event(), asyncio.Queue[_Item]()

        def put(item: _Item) -> None:
            with suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(items.put_nowait, item)

        def run() -> None:
            try:
                if by_step:
                    events = each_in_turn(owner, stop, work(stop), self.turns)
                else:
                    events = in_turn(owner, stop, lambda: work(stop), self.turns)
                for event in events:
                    put(_Item(event))
                put(_Item())
            except Exception as error:  # raised again where it is read
                put(_Item(error=error))

        threading.Thread(target=run, name="api work", daemon=True).start()
        self._open.add(items)
        try:
            while (item := await items.get()).value is not None:
                yield item.value
            if item.error:
                raise item.error
        finally:
            self._open.discard(items)
            if not self._ending:
                stop.set()

    async def result(
        self,
        owner: str,
        request: Request | None,
        work: Callable[[threading.Event], Iterator[T]],
        each: Callable[[T], Awaitable[None]] | None = None,
        by_step: bool = False,
    ) -> T:
        """Return the last value of `work`; `each` gets every value. Work ends when the client of
        the request leaves.
        """

        async def last() -> T:
            found = None
            async with aclosing(self.events(owner, work, by_step)) as events:
                async for event in events:
                    if not isinstance(event, Queued):
                        found = event
                        if each:
                            await each(event)
            if found is None:
                raise HTTPException(CLIENT_LEFT)
            return found

        working, leaving = asyncio.create_task(last()), asyncio.create_task(_leave(request))
        try:
            await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise HTTPException(CLIENT_LEFT)
            return working.result()
        finally:
            working.cancel()
            leaving.cancel()


def _ending() -> Unavailable:
    return Unavailable("the server is being stopped: try again in a minute")


async def _leave(request: Request | None) -> None:
    """Wait until the client has left; the request's body must have been read. Without a request,
    block indefinitely.
    """
    if request is None:
        await asyncio.Event().wait()
    else:
        while (await request.receive())["type"] != "http.disconnect":
            pass


class Metrics:
    """Metrics for Prometheus. Requests are counted by route, not by path, so that clients cannot
    make up labels.
    """

    def __init__(self, queue: Turns) -> None:
        self._registry = CollectorRegistry()
        names = ["route", "status"]
        self.requests = Counter(
            "attribution_requests", "Requests by route and status", names, registry=self._registry
        )
        self.seconds = Histogram(
            "attribution_request_seconds",
            "Seconds until the reply begins",
            ["route"],
            registry=self._registry,
        )
        self.runs = Counter("attribution_runs", "Runs that ended", registry=self._registry)
        running = Gauge("attribution_runs_running", "Runs under way", registry=self._registry)
        waiting = Gauge(
            "attribution_runs_waiting", "Runs that wait for their turn", registry=self._registry
        )
        running.set_function(lambda: queue.counts()[0])
        waiting.set_function(lambda: queue.counts()[1])

    def text(self) -> bytes:
        return generate_latest(self._registry)


class Measured:
    """Middleware that counts requests to the application. As plain ASGI, it leaves errors in bodies
    as they are.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "other")
                self._metrics.requests.labels(route, message["status"]).inc()
                self._metrics.seconds.labels(route).observe(time.perf_counter() - started)
            await send(message)

        await self._app(scope, receive, noted)
