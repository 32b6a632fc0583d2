"""The cookie of a browser, and what Streamlit shows of itself."""

import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from attribution.server.limits import StreamlitLimits
from attribution.server.middleware import BrowserCookie

NAME = "browser"


def replies(app: object, scope: Scope) -> list[Message]:
    """What an application sends for a request or websocket."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))  # type: ignore[operator]
    return sent


async def accepting(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "websocket.accept", "headers": []})


@pytest.mark.parametrize(("scheme", "prefix"), [("ws", ""), ("wss", "__Host-")])
def test_over_tls_no_other_host_can_set_the_cookie(scheme: str, prefix: str) -> None:
    visits: list[tuple[str, str]] = []
    app = BrowserCookie(accepting, NAME, lambda token, address: visits.append((token, address)))
    planted = f"{NAME}={'planted' * 4}".encode()
    client = ("192.0.2.1", 1)
    scope = {"type": "websocket", "scheme": scheme, "client": client, "headers": []}
    scope["headers"] = [(b"cookie", planted)]
    (accepted,) = replies(app, scope)
    cookie = dict(accepted["headers"])[b"set-cookie"].decode()
    token, address = visits[0]
    assert cookie.startswith(f"{prefix}{NAME}={token};")
    assert ("Secure" in cookie) == (scheme == "wss")
    assert (token in planted.decode()) == (scheme == "ws")
    assert address == "192.0.2.1"


def test_the_figures_of_the_server_are_hidden() -> None:
    app = StreamlitLimits(accepting, lambda: None)  # type: ignore[arg-type, return-value]
    scope = {"type": "http", "path": "/_stcore/metrics", "method": "GET", "headers": []}
    assert replies(app, scope)[0]["status"] == 404
