"""Bound what clients take of a server: connections, heads of requests, websockets, and uploads by
session, address and in all.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import uvicorn
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from attribution.server.middleware import client_address, error_response
from attribution.settings import LIMITS

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
            **options | {"ws_max_size": LIMITS.message_mb * 1_000_000},
        )


class BoundedConnection(H11Protocol):
    """When the server is full, a new connection ends those that have kept it waiting longest.

    A tenth are closed at once. While many never had a reply, they are of those, so that a flood of
    them ends no others. If the server waits for none, uvicorn answers that it is busy.
    """

    was_served = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        if len(self.connections) < CONNECTIONS:
            return
        waiting: list[BoundedConnection] = []
        for connection in self.connections - {self}:
            if isinstance(connection, BoundedConnection) and connection.is_waiting:
                waiting.append(connection)
        unserved = [one for one in waiting if not one.was_served]
        if len(unserved) > CONNECTIONS // 2:
            waiting = unserved
        waiting.sort(key=lambda one: one.waiting_since)
        for slowest in waiting[: 1 + CONNECTIONS // 10]:  # their work ends a little later
            self.connections.discard(slowest)
            slowest.transport.abort()

    def on_response_complete(self) -> None:
        self.waiting_since = self.loop.time()
        self.was_served = True
        super().on_response_complete()

    @property
    def is_waiting(self) -> bool:
        """True while the server waits for (the rest of) a request, or for its reply to be read."""
        if self.cycle is None or self.flow.write_paused:
            return True
        return self.cycle.response_complete or self.cycle.more_body


# --- websockets ---

SOCKETS = 100  # open at once from one address
MANY_SOCKETS = "too many pages are open at your address: close some"
WRONG_ORIGIN = "this connection was opened by a page of another site"


class SocketLimits:
    """Refuses a websocket opened by a page of another site, and too many from one address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: Counter[str] = Counter()  # by address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        origins = {origin.lower() for origin in headers.getlist("origin")}
        if not origins <= {f"http://{host}", f"https://{host}"}:
            await error_response(403, "WrongOrigin", WRONG_ORIGIN)(scope, receive, send)
            return
        address = client_address(scope)
        free = CONNECTIONS - self._open.total()
        if self._open[address] >= min(SOCKETS, free // 2):  # others always find some
            await error_response(429, "Busy", MANY_SOCKETS)(scope, receive, send)
            return
        self._open[address] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[address] -= 1
            self._open += Counter()  # drops addresses without a connection


# --- what Streamlit's own paths offer ---

EXPIRY_SECONDS = 2 * 3600  # a file is forgotten then, though its page is still open
LEAST_BYTES = 10_000  # what even an empty file counts for
MB = 1_000_000
_PATH = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)")
NO_LENGTH = "send the header Content-Length, in place of chunks"
FULL = "more files than this server keeps for {}: remove some, or try again in two hours"


class UploadedFiles(Protocol):
    """Streamlit's store of uploaded files."""

    def get_files(self, session_id: str, file_ids: Sequence[str]) -> Sequence[object]: ...

    def remove_file(self, session_id: str, file_id: str) -> None: ...


@dataclass(eq=False)
class Upload:
    """A file that is held, or is being received."""

    session: str
    file: str
    address: str
    size: int  # bytes
    started: float  # seconds, monotonic
    is_complete: bool = False


class StreamlitLimits:
    """Middleware that hides Streamlit's figures, and refuses a file before its first byte is read
    where too much is held.

    Args:
        files: Returns the store of uploaded files.
    """

    def __init__(self, app: ASGIApp, files: Callable[[], UploadedFiles]) -> None:
        self._app = app
        self._files = files
        self._uploads: list[Upload] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/_stcore/metrics":
            await error_response(404, "NotFound", "Not Found")(scope, receive, send)
            return
        path = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if path is None or scope["method"] != "PUT":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        if not length.isdecimal() or "transfer-encoding" in headers:
            await error_response(411, "NoLength", NO_LENGTH)(scope, receive, send)
            return
        size = max(LEAST_BYTES, int(length[:20]))
        upload = Upload(path[1], path[2], client_address(scope), size, time.monotonic())
        problem = self._problem(upload)
        if problem:
            await error_response(413, "TooLarge", problem)(scope, receive, send)
            return

        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                upload.is_complete = message["status"] < 300
            await send(message)

        self._uploads.append(upload)
        try:
            await self._app(scope, receive, send_noted)
        finally:
            if not upload.is_complete:
                self._uploads.remove(upload)

    def _problem(self, new: Upload) -> str:
        """Return why an upload is refused; empty if it may be received."""
        self._forget_old()
        of_session = [upload for upload in self._uploads if upload.session == new.session]
        of_address = [upload for upload in self._uploads if upload.address == new.address]
        for whose, most, uploads in (
            ("a page", LIMITS.session_mb, of_session),
            ("your address", LIMITS.address_mb, of_address),
            ("all visitors", LIMITS.uploads_mb, self._uploads),
        ):
            if new.size + sum(upload.size for upload in uploads) > most * MB:
                return FULL.format(whose)
        return ""

    def _forget_old(self) -> None:
        """Remove expired files, and forget those of closed pages."""
        files = self._files()
        remaining = []
        for upload in self._uploads:
            if upload.is_complete and upload.started < time.monotonic() - EXPIRY_SECONDS:
                files.remove_file(upload.session, upload.file)
            if not upload.is_complete or files.get_files(upload.session, [upload.file]):
                remaining.append(upload)
        self._uploads = remaining
