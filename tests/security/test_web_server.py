import os
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from attribution.server.limits import BACKLOG, CONNECTIONS
from benchmarks.half_open import half_open
from pages.ui.state import COOKIE
from tests.serve import Served, until

NAMED = "explorer.example.org"
FLOOD = 2 * CONNECTIONS
HEALTH = {"web": "/_stcore/health", "api": "/health"}
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    "{}==\r\n"
)


class Server(Served):
    """What `serve` starts, listening at all addresses of the machine."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        flags = ["--host", "0.0.0.0", *["--api"] * (kind == "api")]
        super().__init__(folder, *flags, ATTRIBUTION_HOSTS=NAMED)

    def head(self, path: str, *hosts: str, more: str = "") -> str:
        """A reply in lower case; of a web socket's handshake the status line and headers alone."""
        lines = "".join(f"Host: {host}\r\n" for host in hosts) + (
            "" if more else "Connection: close\r\n"
        )
        with socket.create_connection(("127.0.0.1", self.port), 30) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\n{lines}{more}\r\n".encode("latin-1"))
            received = b""
            while not (more and b"\r\n\r\n" in received) and (part := connection.recv(65536)):
                received += part
        return received.decode("latin-1").lower()

    def socket_status(self, host: str, origin: str = "") -> int:
        """The status of a web socket's handshake."""
        more = UPGRADE.format("a" * 22) + (f"Origin: {origin}\r\n" if origin else "")
        return int(self.head("/_stcore/stream", host, more=more).split()[1])


@pytest.fixture(scope="module", params=["web", "api"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    made = Server(request.param, tmp_path_factory.mktemp("server"))
    yield made
    made.end()


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:{}", "127.0.0.1:{}", "[::1]:{}", NAMED, f"{NAMED}:443"]
)
def test_names_of_this_machine_and_of_the_operator_are_answered(server: Server, host: str) -> None:
    assert " 200 " in server.head(HEALTH[server.kind], host.format(server.port))


@pytest.mark.parametrize(
    "host",
    [
        "evil.com",
        "evil.com:{}",
        "localhost.evil.com",
        "evil.com:localhost",
        "localhost@evil.com",
        "10.99.0.1",
        "",
    ],
)
def test_a_name_that_was_made_to_resolve_to_this_machine_is_refused(
    server: Server, host: str
) -> None:
    reply = server.head(HEALTH[server.kind], host.format(server.port))
    assert reply.split()[1] == "400"
    assert "evil" not in reply


def test_a_second_host_does_not_hide_the_first(server: Server) -> None:
    assert server.head(HEALTH[server.kind], "localhost", "evil.com").split()[1] == "400"


def test_a_web_socket_is_opened_by_pages_of_this_server_alone(server: Server) -> None:
    own, evil = f"localhost:{server.port}", f"evil.com:{server.port}"
    for host, origin in (
        (evil, f"http://{evil}"),
        (own, f"http://{evil}"),
        (own, "null"),
        (evil, f"http://{own}"),
    ):
        assert server.socket_status(host, origin) in (400, 403)
    assert server.socket_status(own, "http://localhost:1") == 403  # another server of this machine
    if server.kind == "web":
        assert server.socket_status(own, f"http://{own}") == 101
        assert server.socket_status(NAMED, f"https://{NAMED}") == 101  # behind a proxy


@pytest.mark.parametrize(("protocol", "prefix"), [("http", ""), ("https", "__host-")])
def test_over_tls_no_other_host_can_set_the_cookie(
    server: Server, protocol: str, prefix: str
) -> None:
    if server.kind == "web":
        planted = f"{COOKIE}={'planted' * 4}"
        more = f"X-Forwarded-Proto: {protocol}\r\nCookie: {planted}\r\n"
        reply = server.head("/_stcore/stream", "localhost", more=UPGRADE.format("a" * 22) + more)
        assert f"\r\nset-cookie: {prefix}{COOKIE}=" in reply
        assert ("; secure" in reply) == bool(prefix)
        assert (planted in reply) != bool(prefix)


def test_the_figures_of_the_server_are_hidden(server: Server) -> None:
    assert server.head("/_stcore/metrics", "localhost").split()[1] in ("401", "404")


@pytest.mark.parametrize("host", ["localhost", "evil.com"])
def test_no_page_frames_a_reply_and_no_browser_guesses_its_type(server: Server, host: str) -> None:
    for path in ("/", HEALTH[server.kind], "/nothing"):
        reply = server.head(path, host)
        assert "x-frame-options: deny" in reply
        assert "frame-ancestors 'none'" in reply
        assert "x-content-type-options: nosniff" in reply
        assert "referrer-policy: same-origin" in reply


def files(server: Server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def test_a_full_server_closes_a_tenth_of_the_connections_that_wait(server: Server) -> None:
    with ExitStack() as stack:
        silent = []
        for _ in range(CONNECTIONS):
            connection = socket.create_connection(("127.0.0.1", server.port), 30)
            silent.append(stack.enter_context(connection))
        select.select(silent, [], [], 60)  # nothing is sent over them but their end
        assert server.seconds() < 60
        closed, _, _ = select.select(silent, [], [], 0)
    assert closed == silent[: 1 + CONNECTIONS // 10]


def test_half_open_connections_leave_the_server_to_others(server: Server) -> None:
    before = files(server)
    with half_open(server.port, FLOOD) as opened:
        waits = []
        for _ in range(20):
            waits.append(server.seconds())
            time.sleep(0.2)
        assert sum(wait < 5 for wait in waits) >= 18  # a new connection may be replaced, too
        assert files(server) < before + CONNECTIONS + BACKLOG + 20
    assert opened[0] > FLOOD
    until(lambda: files(server) < before + 20)
    assert "Traceback" not in server.log.read_text()
