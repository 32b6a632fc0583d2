"""Middleware of web app and API: host names, protective headers, a cookie."""

from __future__ import annotations

import re
import secrets
import socket
from collections.abc import Callable, Mapping
from ipaddress import ip_network

from starlette.datastructures import MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attribution.errors import BadInput
from attribution.server_settings import allowed_hosts

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
EVERYWHERE = ("0.0.0.0", "::")  # addresses to listen at
YEAR = 365 * 24 * 3600  # seconds
HOST_ONLY = "__Host-"  # prefix of a cookie that no other host can set
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")
_HOST = re.compile(r"\*|(?:\*\.)?[\w.-]+|\[[0-9a-f:.]+\]", re.IGNORECASE)


def host_names(address: str) -> list[str]:
    """Return the names of a server: this machine's, and those in ATTRIBUTION_HOSTS.

    Args:
        address: Where the server listens.

    Raises:
        BadInput: A name in the variable is no host name.
    """
    own = f"[{address}]" if ":" in address else address
    names = [*LOOPBACK, socket.gethostname(), own]
    if address in EVERYWHERE:
        names += [socket.getfqdn(), _network_address()]
    for name in allowed_hosts():
        if not _HOST.fullmatch(name):
            raise BadInput(
                f"ATTRIBUTION_HOSTS: {name[:80]!r} is not a name of a server: expected names such "
                "as explorer.example.org, separated by commas, without http:// and path; or * "
                "for any"
            )
        names.append(name)
    return names


def _network_address() -> str:
    """Return this machine's address on the network it reaches others by; empty without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return ""
        address: str = probe.getsockname()[0]
        return address


def client_address(scope: Scope) -> str:
    """Return the client's address, see `network`."""
    return network((scope.get("client") or ("", 0))[0])


def network(address: str) -> str:
    """Return an address; for IPv6 its network, since one client has many addresses."""
    if ":" not in address:
        return address
    return str(ip_network((address.partition("%")[0], 64), strict=False))


class ProtectedReplies:
    """Adds protective headers: no framing, no guessing of types, no referrer to other sites.

    Args:
        policy: The other directives of Content-Security-Policy.
    """

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app = app
        self._headers = {
            "content-security-policy": f"{policy}; frame-ancestors 'none'",
            "x-frame-options": "DENY",
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_protected(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, send_protected)


class BrowserCookie:
    """Gives each browser a token that scripts can't read, as the page opens its websocket.

    The connection that sets the cookie sees it in its own request, too.

    Args:
        name: The name of the cookie.
        on_visit: Called with each token and the address it is used from.
    """

    def __init__(self, app: ASGIApp, name: str, on_visit: Callable[[str, str], None]) -> None:
        self._app = app
        self._name = name
        self._on_visit = on_visit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        headers = MutableHeaders(scope=scope)
        cookies = headers.get("cookie", "")
        is_secure = scope.get("scheme") == "wss"
        name = HOST_ONLY + self._name if is_secure else self._name
        token = cookie_parser(cookies).get(name, "")
        if not _TOKEN.fullmatch(token):
            token = secrets.token_urlsafe(24)
            new_cookie = f"{name}={token}"
            headers["cookie"] = f"{cookies}; {new_cookie}" if cookies else new_cookie
        self._on_visit(token, client_address(scope))
        secure = "; Secure" if is_secure else ""
        cookie = f"{name}={token}; Max-Age={YEAR}; Path=/; HttpOnly; SameSite=Strict{secure}"

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "websocket.accept":
                message.setdefault("headers", [])
                MutableHeaders(scope=message).append("set-cookie", cookie)
            await send(message)

        await self._app(scope, receive, send_with_cookie)


def error_response(
    status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return a typed error."""
    return JSONResponse({"error": {"type": kind, "message": message}}, status, headers)
