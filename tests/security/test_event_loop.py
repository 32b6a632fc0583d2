"""No request keeps the server from answering others, whatever its body holds."""

import ast
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from attribution.settings import LIMITS, ROOT
from tests.serve import API, Served
from tests.server.conftest import KEY

OWN = {"ctx", "request", "service", "_"}  # parameters that no client fills in
LINES = "a-\n"  # broken words, which take longest to put together


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("loop"), *API)
    longest_wait(made, "judge", ["The tower is tall."])  # loads the verifier
    yield made
    made.end()


def body_of(entrance: str, passages: list[str]) -> dict[str, object]:
    given = {"claim": "It is tall.", "passages": passages}
    if entrance == "judge":
        return given
    params = {"name": "verify_claim", "arguments": given}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def longest_wait(served: Served, entrance: str, passages: list[str]) -> float:
    """Send a request, and return how long the health check took at most meanwhile."""
    headers = {
        "Authorization": f"Bearer {KEY}",
        "Accept": "application/json, text/event-stream",
    }
    path = {"judge": "/judge", "mcp": "/mcp/"}[entrance]
    replies: list[httpx2.Response] = []

    def send() -> None:
        body = body_of(entrance, passages)
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


@pytest.mark.parametrize("entrance", ["judge", "mcp"])
@pytest.mark.parametrize("size", [LIMITS.request // 2, LIMITS.compared * 9 // 10])
def test_others_are_answered_while_a_body_is_read(served: Served, entrance: str, size: int) -> None:
    passages = [LINES * (size // len(LINES) // 40)] * 40
    assert longest_wait(served, entrance, passages) < 2


def names_used(function: ast.AsyncFunctionDef) -> set[str]:
    """The names that the event loop reads in a function: not those of the work it defines."""
    names = set()
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Name):
            names.add(node.id)
        pending += ast.iter_child_nodes(node)
    return names


@pytest.mark.parametrize("module", ["api", "mcp"])
def test_the_event_loop_touches_nothing_that_a_client_sent(module: str) -> None:
    path: Path = ROOT / "attribution" / "server" / f"{module}.py"
    entrances = 0
    for function in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(function, ast.AsyncFunctionDef) or not function.decorator_list:
            continue
        sent = {argument.arg for argument in function.args.args} - OWN
        if not sent or "error" in sent:
            continue
        entrances += 1
        assert not names_used(function) & sent, function.name
    assert entrances == {"api": 3, "mcp": 2}[module]
