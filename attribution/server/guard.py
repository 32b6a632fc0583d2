"""Check the key and the size of every request before it is read. Plain ASGI, so that bodies can be
counted.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from fastapi import HTTPException  # FastAPI passes it on when reading a body raises it
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attribution.errors import BadInput
from attribution.server.bodies import MAX_BODY
from attribution.server.middleware import reply
from attribution.settings import api_keys

OPEN = ("/health", "/docs", "/openapi.json")  # without a key
SHORTEST_KEY = 16  # characters
NO_KEYS = (
    "ATTRIBUTION_API_KEYS is not set: give each client a key of at least 16 characters, separated by commas, such as "
    "one made by: python -c 'import secrets; print(secrets.token_urlsafe())'"
)


class Keys:
    """The clients' keys, compared by hash in constant time and never shown in a message."""

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise BadInput(NO_KEYS)
        for number, key in enumerate(keys, 1):
            if len(key) < SHORTEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
                raise BadInput(
                    f"ATTRIBUTION_API_KEYS: key {number} has {len(key)} characters; expected at least {SHORTEST_KEY}, "
                    "printable ASCII without spaces"
                )
        self._digests = [_digest(key) for key in keys]

    @classmethod
    def from_environment(cls) -> Keys:
        """Read the keys from the environment. Raises BadInput if none is set or one is too short."""
        return cls([key.get_secret_value() for key in api_keys()])

    def owner(self, authorization: str) -> str:
        """Return the token of the client that sent this header, the owner of its runs; empty for a
        wrong key.
        """
        scheme, _, key = authorization.partition(" ")
        sent = _digest(key.strip())
        known = [
            hmac.compare_digest(sent, digest) for digest in self._digests
        ]  # compare all, in constant time
        return f"api:{sent}" if scheme.lower() == "bearer" and any(known) else ""


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


class BodyTooLarge(HTTPException):
    """Raised when a body exceeds the limit while it is read."""

    def __init__(self) -> None:
        super().__init__(413, f"the body has more than {MAX_BODY:,} bytes")


class Guard:
    """Middleware that admits requests with a known key and a body within the limit, and sets
    `owner` in their state.
    """

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app, self._keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        owner = self._keys.owner(headers.get("authorization", ""))
        if not owner and scope["path"].rstrip("/") not in OPEN:
            await reply(
                scope,
                send,
                401,
                "WrongKey",
                "send the header Authorization: Bearer KEY, with a key of this server",
            )
            return
        scope.setdefault("state", {})["owner"] = owner
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            await reply(
                scope,
                send,
                413,
                "TooLarge",
                f"the body has {length[:20]} bytes; at most {MAX_BODY:,} are accepted",
            )
            return
        read, started = 0, False

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > MAX_BODY:
                raise BodyTooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, counted, noted)
        except BodyTooLarge as error:
            if not started:
                await reply(scope, send, error.status_code, "TooLarge", error.detail)
