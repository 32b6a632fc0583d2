"""Bound how many connections the HTTP server holds and how large a request's head may be."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 400  # with databases and models well below 1,024 open files, a common limit
BACKLOG = 128  # connections accepted at once
IDLE_SECONDS = 10  # a connection without a further request is closed then
HEAD_BYTES = 64 * 1024


class Config(uvicorn.Config):
    """uvicorn's configuration with these limits."""

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(
            app,
            http=BoundedConnection,
            limit_concurrency=CONNECTIONS,
            backlog=BACKLOG,
            timeout_keep_alive=IDLE_SECONDS,
            h11_max_incomplete_event_size=HEAD_BYTES,
            server_header=False,
            **options,
        )


class BoundedConnection(H11Protocol):
    """When the server is full, a new connection replaces the oldest without a whole request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.opened_at = self.loop.time()
        if len(self.connections) < CONNECTIONS:
            return
        candidates: list[BoundedConnection] = []
        for connection in self.connections:
            if isinstance(connection, BoundedConnection) and connection.is_waiting:
                candidates.append(connection)
        if not candidates:
            return  # uvicorn answers that the server is busy
        oldest = min(candidates, key=lambda connection: connection.opened_at)
        self.connections.discard(oldest)
        oldest.transport.abort()

    @property
    def is_waiting(self) -> bool:
        """True while the server waits for (the rest of) a request."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body
