"""No request keeps the server from answering others, whatever its body holds."""

import json
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from attribution.settings import LIMITS
from tests.library.test_folder import MERGES
from tests.serve import API, KEY, Served

LINES = "a-\n"  # broken words, which take longest to put together


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("loop"), *API)
    first = json.dumps(body_of("/judge", ["The tower is tall."]))
    longest_wait(made, "/judge", first)  # loads the verifier
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


def longest_wait(served: Served, path: str, body: str) -> float:
    """Send a request, and return how long the health check took at most meanwhile."""
    headers = {
        "Authorization": f"Bearer {KEY}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    replies: list[httpx2.Response] = []

    def send() -> None:
        replies.append(httpx2.post(served.url + path, content=body, headers=headers, timeout=60))

    sender = threading.Thread(target=send)
    sender.start()
    longest = 0.0
    while sender.is_alive():
        longest = max(longest, served.seconds())
        time.sleep(0.01)
    sender.join()
    assert replies[0].status_code in (200, 400, 413, 422)
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
def test_others_are_answered_while_a_text_is_read(served: Served, path: str, size: int) -> None:
    passages = [LINES * (size // len(LINES) // 40)] * 40
    assert longest_wait(served, path, json.dumps(body_of(path, passages))) < 2


MARKDOWN = {"name": "a.md", "text": f"---\n{MERGES}---\nThe tower is tall."}
KEYS = ",".join(f'"k{n}":0' for n in range(150_000))
LISTS = f"[{'[],' * 600_000}[]]"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/segment", f'{{"answer":"a",{KEYS}}}'),
        ("/analyze", f'{{"answer":"a","turns":[{LISTS}]}}'),
        ("/judge", f'{{"claim":"a","passages":["b"],"settings":{{"x":{LISTS}}}}}'),
        ("/mcp/", f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{KEYS}}}}}'),
        ("/segment", f'{{"answer":"a","turns":{"[" * 4_000}{"]" * 4_000}}}'),
        ("/segment", f'{{"answer":{"9" * LONG}}}'),
        ("/analyze", json.dumps({"answer": "It is tall.", "documents": [MARKDOWN]})),
    ],
    ids=["keys", "lists", "settings", "mcp", "nested", "number", "merge keys of a document"],
)
def test_others_are_answered_while_many_values_are_read(
    served: Served, path: str, body: str
) -> None:
    assert longest_wait(served, path, body) < 2


HEAP = 64 * 1024**2  # bytes; glibc's heaps begin at multiples of them
MAPPED = re.compile(r"^([0-9a-f]+)-[0-9a-f]+ rw-p 00000000 00:00 0 *$", re.MULTILINE)


def test_threads_share_heaps(tmp_path: Path) -> None:
    """With one for each thread, the server would keep what they have freed."""
    served = Served(tmp_path, *API)  # its own: long requests stretch a heap over several
    body = json.dumps(body_of("/judge", ["The tower is tall."]))
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _: longest_wait(served, "/judge", body), range(24)))
    maps = Path(f"/proc/{served.process.pid}/maps").read_text()
    served.end()
    heaps = [start for start in MAPPED.findall(maps) if int(start, 16) % HEAP == 0]
    assert len(heaps) < 8  # one to three; 15 and more without the setting
