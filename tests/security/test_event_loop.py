"""No request keeps the server from answering others, whatever its body holds."""

import threading
import time
from collections.abc import Iterator

import httpx2
import pytest

from attribution.settings import LIMITS
from tests.serve import API, Served
from tests.server.conftest import KEY

LINES = "a-\n"  # broken words, which take longest to put together


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("loop"), *API)
    longest_wait(made, "/judge", ["The tower is tall."])  # loads the verifier
    yield made
    made.end()


def body_of(path: str, passages: list[str]) -> dict[str, object]:
    given: dict[str, object] = {"claim": "It is tall.", "passages": passages}
    if path == "/segment":
        return {"answer": "".join(passages)}
    if path == "/judge":
        return given
    params = {"name": "verify_claim", "arguments": given}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def longest_wait(served: Served, path: str, passages: list[str]) -> float:
    """Send a request, and return how long the health check took at most meanwhile."""
    headers = {
        "Authorization": f"Bearer {KEY}",
        "Accept": "application/json, text/event-stream",
    }
    replies: list[httpx2.Response] = []

    def send() -> None:
        body = body_of(path, passages)
        replies.append(httpx2.post(served.url + path, json=body, headers=headers, timeout=60))

    sender = threading.Thread(target=send)
    sender.start()
    longest = 0.0
    while sender.is_alive():
        longest = max(longest, served.seconds())
        time.sleep(0.01)
    sender.join()
    assert replies[0].status_code in (200, 400)
    return longest


LONG, COMPARED = LIMITS.request // 2, LIMITS.compared * 9 // 10


@pytest.mark.parametrize(
    ("path", "size"),
    [
        ("/judge", LONG),
        ("/judge", COMPARED),
        ("/mcp/", LONG),
        ("/mcp/", COMPARED),
        ("/segment", LONG),
    ],
)
def test_others_are_answered_while_a_body_is_read(served: Served, path: str, size: int) -> None:
    passages = [LINES * (size // len(LINES) // 40)] * 40
    assert longest_wait(served, path, passages) < 2
