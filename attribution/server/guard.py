"""Check the key and the size of every request before it is parsed."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attribution.errors import BadInput
from attribution.server.bodies import MAX_BODY
from attribution.server.middleware import error_response
from attribution.server_settings import api_keys

OPEN_PATHS = ("/health", "/openapi.json")  # need no key
SHORTEST_KEY = 16  # characters
NO_KEYS = (
    "ATTRIBUTION_API_KEYS is not set: give each client a key of at least 16 characters, "
    "separated by commas, such as one made by: "
    "python -c 'import secrets; print(secrets.token_urlsafe())'"
)
WRONG_KEY = "send the header Authorization: Bearer KEY, with a key of this server"


class Keys:
    """The clients' keys, compared by hash in constant time and never shown in a message."""

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise BadInput(NO_KEYS)
        for number, key in enumerate(keys, 1):
            is_plain = key.isascii() and key.isprintable() and " " not in key
            if len(key) < SHORTEST_KEY or not is_plain:
                raise BadInput(
                    f"ATTRIBUTION_API_KEYS: key {number} has {len(key)} characters; expected at "
                    f"least {SHORTEST_KEY}, printable ASCII without spaces"
                )
        self._digests = [_digest(key) for key in keys]

    @classmethod
    def from_environment(cls) -> Keys:
        """Read the keys from the environment. Raises BadInput for none and for too short ones."""
        return cls([key.get_secret_value() for key in api_keys()])

    def owner(self, authorization: str) -> str:
        """Return the token of the client that sent this header, which owns its runs.

        Returns:
            An empty string for a wrong key.
        """
        scheme, _, key = authorization.partition(" ")
        sent = _digest(key.strip())
        matches = [hmac.compare_digest(sent, digest) for digest in self._digests]
        return f"api:{sent}" if scheme.lower() == "bearer" and any(matches) else ""


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


class BodyTooLarge(HTTPException):
    """A body that exceeds the limit while it is read."""

    def __init__(self) -> None:
        super().__init__(413, f"the body has more than {MAX_BODY:,} bytes")


class Guard:
    """Middleware that admits requests with a known key and a body within the limit.

    It sets the client as `owner` in the state of the request.
    """

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        owner = self._keys.owner(Headers(scope=scope).get("authorization", ""))
        if not owner and scope["path"].rstrip("/") not in OPEN_PATHS:
            refused = error_response(401, "WrongKey", WRONG_KEY, {"WWW-Authenticate": "Bearer"})
            await refused(scope, receive, send)
            return
        scope.setdefault("state", {})["owner"] = owner
        received = 0

        async def receive_within_limit() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > MAX_BODY:
                raise BodyTooLarge
            return message

        try:
            await self._app(scope, receive_within_limit, send)
        except BodyTooLarge as error:  # FastAPI handles its own; the MCP application does not
            await error_response(413, "TooLarge", error.detail)(scope, receive, send)
