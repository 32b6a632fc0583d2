"""No client's requests keep another's waiting for ever: all take turns, end with their client, and
are counted.
"""

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.sync.client import connect

from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.tables import Entry
from attribution.verifiers import VERIFIERS
from tests.security import slow
from tests.serve import API, KEY, OTHER, Served, until
from tests.server.conftest import Server

SEGMENT = ("/segment", {"answer": "The tower is in Paris.", "segmenter": "slow"})
PASSAGES = {"claim": "It is in Paris.", "passages": [f"Passage {n}." for n in range(50)]}
CALL = {"name": "verify_claim", "arguments": PASSAGES}
TOOL = ("/mcp/", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL})
JUDGE = ("/judge", PASSAGES)
ANALYZE = ("/analyze", SEGMENT[1])
EACH = pytest.mark.parametrize(
    "request_", [JUDGE, SEGMENT, TOOL, ANALYZE], ids=["judge", "segment", "mcp", "analyze"]
)
WAITING = 45  # of one key; with the two that run more than the threads of the server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    database = tmp_path_factory.mktemp("server") / "attribution.sqlite3"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(VERIFIERS, "slow", Entry("tests.security.slow:Verifier", "Slow", "for tests"))
        patch.setitem(
            SEGMENTERS, "slow", Entry("tests.security.slow:Segmenter", "Slow", "for tests")
        )
        made = Server(Settings(database_url=f"sqlite:///{database}", verifier="slow"), 4 * WAITING)
        yield made
        made.close()


@pytest.fixture(autouse=True)
def held(server: Server) -> Iterator[None]:
    """The slow ones are held while a test runs."""
    slow.go_on.clear()
    slow.read.clear()
    slow.stopped.clear()
    yield
    slow.go_on.set()
    until(lambda: server.turns.counts() == (0, 0))


@contextmanager
def sent(server: Server, request: tuple[str, Any], key: str = KEY) -> Iterator[socket.socket]:
    """A request whose reply is not awaited; its connection."""
    path, body = request
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Type: "
        "application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 60) as connection:
        connection.sendall(head.encode() + content)
        yield connection


@contextmanager
def all_sent(server: Server, requests: list[tuple[str, Any]]) -> Iterator[None]:
    """Requests that the server has, whose replies are not awaited. At the end it knows that their
    clients have left.
    """
    with ExitStack() as connections:
        for request in requests:
            connections.enter_context(sent(server, request))
        until(lambda: len(server.work.waiting) == len(requests) == sum(server.turns.counts()))
        yield
    until(lambda: not server.work.waiting)


@EACH
def test_requests_whose_clients_left_leave_the_queue(
    server: Server, request_: tuple[str, Any]
) -> None:
    with all_sent(server, [request_] * 45):
        pass
    until(lambda: server.turns.counts() == (2, 0))


@pytest.mark.parametrize("request_", [JUDGE, TOOL], ids=["judge", "mcp"])
def test_pairs_of_a_client_that_left_are_read_no_further(
    server: Server, request_: tuple[str, Any]
) -> None:
    with all_sent(server, [request_]):
        until(lambda: len(slow.read) == 1)
    slow.go_on.set()
    until(lambda: server.turns.counts() == (0, 0))
    assert len(slow.read) == 1


@pytest.mark.parametrize("request_", [SEGMENT, ANALYZE], ids=["segment", "analyze"])
def test_segmenting_ends_with_its_client(server: Server, request_: tuple[str, Any]) -> None:
    with all_sent(server, [request_]):
        pass
    slow.go_on.set()
    until(lambda: server.turns.counts() == (0, 0))
    assert slow.stopped == [True]


def test_health_answers_while_everything_else_waits(server: Server) -> None:
    with all_sent(server, [JUDGE, SEGMENT, TOOL] * 15), server.client() as client:
        until(lambda: server.turns.counts() == (2, 43))
        health = client.get("/health").json()
        assert (health["status"], health["running"], health["waiting"]) == ("ok", 2, 43)


@EACH
def test_a_key_whose_share_waits_is_refused_and_others_find_room(
    server: Server, request_: tuple[str, Any]
) -> None:
    path, body = request_
    with all_sent(server, [request_] * (WAITING + 2)), server.client() as client:
        until(lambda: server.turns.counts() == (2, WAITING))
        reply = client.post(
            path, json=body, headers={"accept": "application/json, text/event-stream"}
        )
        if path == "/mcp/":  # errors of a tool have no status
            result = reply.json()["result"]
            assert result["isError"]
            assert "try again in a few minutes" in result["content"][0]["text"]
        else:
            assert reply.status_code == 429
            assert reply.json()["error"]["type"] == "Busy"
            assert int(reply.headers["retry-after"]) > 0
        with sent(server, request_, OTHER):
            until(lambda: server.turns.counts() == (2, WAITING + 1))
        until(lambda: server.turns.counts() == (2, WAITING))


LONG = " ".join(
    f"The Eiffel Tower is {n} metres high and was completed in {1800 + n}." for n in range(60)
)


def assert_ends_quietly(served: Served) -> None:
    """By the signal itself, as a shell and a container expect."""
    assert served.process.wait(60) == -signal.SIGTERM
    text = served.log.read_text()
    assert "Traceback" not in text, text
    assert "rror" not in text, text


def test_a_signal_ends_the_api_and_tells_its_clients(tmp_path: Path) -> None:
    served = Served(tmp_path, *API)
    headers = {"Authorization": f"Bearer {KEY}"}
    address = f"{served.url}/analyze"
    with httpx2.stream(
        "POST", address, json={"answer": LONG}, headers=headers, timeout=120
    ) as reply:
        events = map(json.loads, reply.iter_lines())
        next(event for event in events if event["event"] == "verdict")
        served.process.send_signal(signal.SIGTERM)
        *_, last = events
    assert last["event"] == "error"
    assert "being stopped" in last["error"]["message"]
    assert_ends_quietly(served)


def test_a_signal_ends_the_web_app_quietly_with_a_page_open(tmp_path: Path) -> None:
    served = Served(tmp_path)
    with connect(f"ws://localhost:{served.port}/_stcore/stream"):
        served.process.send_signal(signal.SIGTERM)
        assert_ends_quietly(served)
