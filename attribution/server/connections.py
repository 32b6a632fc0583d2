"""Bound the connections of a server: how many are open, and how long one waits for its client."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

FILES = 8192  # open files that a server asks for
HEAD = 10.0  # seconds for the head of a request, and for the next request of a connection
BODY = 60.0  # seconds for each STEP of a body
READ = 60.0  # seconds in which a client reads something of its reply
STEP = 65_536  # bytes
TOO_MANY = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def open_files() -> int:
    """Raise the process's limit of open files as far as it may, up to FILES, and return it."""
    try:
        import resource
    except ImportError:  # Windows has no such limit, but an event loop with fewer sockets
        return 512
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if resource.RLIM_INFINITY != soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


class Config(uvicorn.Config):
    """uvicorn's configuration with limits: half of the open files are for connections, most of
    which may wait.
    """

    def __init__(self, app: Any, **options: Any) -> None:
        files = open_files()
        super().__init__(
            app, http=TimedConnection, limit_concurrency=files // 2, backlog=files // 4, **options
        )
        self.most_waiting = files * 3 // 8
        self.waiting: dict[
            TimedConnection, None
        ] = {}  # for their clients, in the order in which they began to


class TimedConnection(H11Protocol):
    """A connection that is closed when its client is too slow, or when too many wait and it has
    waited longest.

    A client is waited for until it has sent a whole request, and while it does not read the reply.
    """

    config: Config

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._received, self._paused = 0, False
        self._awaited: object = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_for(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._paused = True
        self._look()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._paused = False
        self._look()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._wait_for(None)
        if len(self.connections) > (self.limit_concurrency or 0):
            self.transport.write(TOO_MANY)
            self.transport.close()
        else:
            super().handle_websocket_upgrade(event)

    def _look(self) -> None:
        """Find out what the client is waited for, if anything."""
        if self.transport.get_protocol() is not self or self.transport.is_closing():
            self._wait_for(None)  # a websocket has its own limits
        elif self._paused:
            self._wait_for((READ, self.cycle))
        elif self.cycle is None or self.cycle.response_complete:
            self._wait_for((HEAD, self.cycle))
        else:
            self._wait_for(
                (BODY, self.cycle, self._received // STEP) if self.cycle.more_body else None
            )

    def _wait_for(self, awaited: tuple[Any, ...] | None) -> None:
        """Start the time that the client has, unless it is waited for the same thing already."""
        if awaited == self._awaited:
            return
        self._awaited = awaited
        self.config.waiting.pop(self, None)
        if self._timer:
            self._timer.cancel()
        if awaited:
            self._timer = self.loop.call_later(awaited[0], self._give_up)
            self.config.waiting[self] = None
            if len(self.config.waiting) > self.config.most_waiting:
                next(iter(self.config.waiting))._give_up()

    def _give_up(self) -> None:
        self._wait_for(None)
        self.connections.discard(self)  # at once, so that it takes no other's place
        self.transport.abort()
