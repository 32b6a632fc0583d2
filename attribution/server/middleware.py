"""Middleware of web app and API: allowed hosts, keys, sizes, protective headers, the cookie of a
browser.
"""

from __future__ import annotations

import ipaddress
import json
import re
import secrets
import socket

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attribution.errors import BadInput
from attribution.settings import allowed_hosts

LOOPBACK = ("localhost", "127.0.0.1", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # a place to listen at, not a name
ANY = "*"
YEAR = 365 * 24 * 3600  # seconds
WRONG_HOST = (
    "the Host of this request is not a name of this server: put the names under which it is reached into the "
    "environment variable ATTRIBUTION_HOSTS, separated by commas"
)
WRONG_ORIGIN = "this connection was opened by a page of another site"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")
_HOST = re.compile(r"(?:\[([0-9a-f:.]++)\]|([^\s:@/?#\[\]\\]++))(?::[0-9]{1,5})?")


def host_names(address: str) -> frozenset[str]:
    """The names of a server that listens at `address`: those of this machine, and those in
    ATTRIBUTION_HOSTS.

    BadInput for a name in the variable that no request can carry.
    """
    own = {*LOOPBACK, socket.gethostname(), address}
    if address not in LOOPBACK:  # reached from elsewhere; to look the full name up may take a while
        own.add(socket.getfqdn())
    names = {name.strip("[]").rstrip(".").lower() for name in own} - {"", *EVERYWHERE}
    for name in allowed_hosts():
        if not _name(name):
            raise BadInput(
                f"ATTRIBUTION_HOSTS: {name[:80]!r} is not a name of a server: expected names such as "
                "explorer.example.org, separated by commas, without http:// and path; or * for any"
            )
        names.add(_name(name))
    return frozenset(names)


def _name(host: str) -> str:
    """The name or address in a header Host, without its port; empty where it is none."""
    found = _HOST.fullmatch(host.lower())
    return (found[1] or found[2].rstrip(".")) if found else ""


class AllowedHosts:
    """Answers only what is addressed to this server: by one of `names`, or by the IP address that
    it came in at.

    A page of another site can have its own name resolve to this machine (DNS rebinding); its
    requests still carry that
    name. A websocket must also come from a page of the same host: browsers let any page open one.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app, self._names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_own(hosts[0], scope):
            await reply(scope, send, 421, "WrongHost", WRONG_HOST)
        elif scope["type"] == "websocket" and not _same_site(headers.getlist("origin"), hosts[0]):
            await reply(scope, send, 403, "WrongOrigin", WRONG_ORIGIN)
        else:
            await self._app(scope, receive, send)

    def _is_own(self, host: str, scope: Scope) -> bool:
        name = _name(host)
        return bool(name) and (
            ANY in self._names or name in self._names or _is_address(name, scope.get("server"))
        )


def _is_address(name: str, server: tuple[str, int | None] | None) -> bool:
    """Return True if the name is an IP address, and that of this end of the connection."""
    try:
        asked, own = (ipaddress.ip_address(text) for text in (name, server[0] if server else ""))
    except ValueError:
        return False
    return asked == (getattr(own, "ipv4_mapped", None) or own)


def _same_site(origins: list[str], host: str) -> bool:
    """Programs send no Origin; a browser's is that of the page."""
    return all(
        origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")
        for origin in origins
    )


class ProtectedReplies:
    """Adds headers to all replies: no page frames them, their type is not guessed, and their
    address goes nowhere.

    `policy` is what else Content-Security-Policy says.
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
        async def protected(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, protected)


class BrowserCookie:
    """Gives each browser a token that no script reads: a cookie, set as the page opens its
    connection.

    A browser that comes with one keeps it. The connection that sets it has it already.
    """

    def __init__(self, app: ASGIApp, name: str) -> None:
        self._app, self._name = app, name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        token = cookie_parser(headers.get("cookie", "")).get(self._name, "")
        if not _TOKEN.fullmatch(token):
            token = secrets.token_urlsafe(24)
            cookies = "; ".join(filter(None, (headers.get("cookie"), f"{self._name}={token}")))
            others = [(name, value) for name, value in scope["headers"] if name != b"cookie"]
            scope = {**scope, "headers": [*others, (b"cookie", cookies.encode("latin-1"))]}
        secure = "; Secure" if scope.get("scheme") == "wss" else ""
        cookie = f"{self._name}={token}; Max-Age={YEAR}; Path=/; HttpOnly; SameSite=Strict{secure}"

        async def marked(message: Message) -> None:
            if message["type"] == "websocket.accept":
                own = [(b"set-cookie", cookie.encode("latin-1"))]
                message = {**message, "headers": [*message.get("headers", ()), *own]}
            await send(message)

        await self._app(scope, receive, marked)


async def reply(scope: Scope, send: Send, status: int, kind: str, message: str) -> None:
    """A typed error, outside of any endpoint."""
    body = json.dumps({"error": {"type": kind, "message": message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    prefix = "websocket." if scope["type"] == "websocket" else ""
    await send({"type": f"{prefix}http.response.start", "status": status, "headers": headers})
    await send({"type": f"{prefix}http.response.body", "body": body})
