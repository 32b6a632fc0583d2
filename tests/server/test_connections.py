import socket
import time

import httpx2
import pytest

from attribution.server import connections
from tests.server.conftest import KEY, Server

SLOW = {
    "half a head": b"GET /health HTTP/1.1\r\nHost: local",
    "nothing": b"",
    "half a body": b"POST /verify HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
    + KEY.encode()
    + b"\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{",
    "half a body without a key": b"POST /verify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{",
}


@pytest.mark.parametrize("sent", SLOW)
def test_a_client_that_sends_slowly_is_closed(
    sent: str, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    monkeypatch.setattr(connections, "HEAD", 1.0)
    monkeypatch.setattr(connections, "BODY", 1.0)
    with socket.create_connection(
        ("127.0.0.1", httpx2.URL(server.url).port or 0), 10
    ) as connection:
        connection.sendall(SLOW[sent])
        with pytest.raises(OSError):
            for _ in range(40):
                time.sleep(0.1)
                connection.sendall(b"x")
