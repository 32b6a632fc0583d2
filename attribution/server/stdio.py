"""Stand between a client and the MCP server on standard input and output: every line and every
request is answered.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from typing import Any

from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from attribution.files import parse_json

PATIENCE = 600.0  # seconds for the replies to what was asked before standard input was closed
UNREADABLE, INVALID = -32700, -32600  # codes of JSON-RPC


class Relay:
    """Threads that pass lines on, to and from a server that reads and writes pipes in place of the
    standard files.

    A line that is no message is answered here, where the server would ignore it. The server sees
    the end of its input
    when all requests before it have been answered.
    """

    def __init__(self) -> None:
        self._client_in, self._client_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        ends = os.pipe(), os.pipe()
        (server_in, to_server), (from_server, server_out) = ends
        for end, standard in ((server_in, 0), (server_out, 1)):
            os.dup2(end, standard)
            os.close(end)
        self._to_server, self._from_server = (
            os.fdopen(to_server, "wb"),
            os.fdopen(from_server, "rb"),
        )
        self._asked: set[str] = set()  # ids of requests without a reply, as JSON
        self._changed = threading.Condition()
        self._sending = threading.Lock()
        for work in (self._receive, self._reply):
            threading.Thread(target=work, name="stdio", daemon=True).start()

    def _receive(self) -> None:
        with self._to_server:
            for line in filter(bytes.strip, self._client_in):
                if refused := self._refusal(line):
                    self._send(refused)
                else:
                    self._to_server.write(line.rstrip(b"\n") + b"\n")
                    self._to_server.flush()
            with self._changed:
                self._changed.wait_for(lambda: not self._asked, PATIENCE)

    def _refusal(self, line: bytes) -> bytes:
        """Return the reply to a line that is no message; note what a message asks or gives up."""
        message: Any = None
        try:
            message, code = parse_json(line.decode()), INVALID
            jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            reason = "expected a JSON-RPC message of whole characters"
        except ValueError:
            code, reason = UNREADABLE, "expected a JSON-RPC message in a line of UTF-8"
        else:
            if message.get("method") == "notifications/cancelled":
                self._answered((message.get("params") or {}).get("requestId"))
            elif "method" in message and "id" in message:
                with self._changed:
                    self._asked.add(json.dumps(message["id"]))
            return b""
        given = message.get("id") if isinstance(message, dict) else None
        own = (
            given
            if isinstance(given, int) or (isinstance(given, str) and given.isascii())
            else None
        )
        reply = {"jsonrpc": "2.0", "id": own, "error": {"code": code, "message": reason}}
        return json.dumps(reply).encode() + b"\n"

    def _reply(self) -> None:
        for line in self._from_server:
            self._send(line)
            message = json.loads(line)
            if "method" not in message:
                self._answered(message.get("id"))

    def _answered(self, id: object) -> None:
        with self._changed:
            self._asked.discard(json.dumps(id))
            self._changed.notify_all()

    def _send(self, line: bytes) -> None:
        with self._sending, suppress(OSError):  # a client that reads no more
            self._client_out.write(line)
            self._client_out.flush()
