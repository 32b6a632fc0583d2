import asyncio
import json
import signal
import subprocess
import sys
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.serve import KEY
from tests.server.conftest import Server

ANSWER = "The Eiffel Tower was completed in 1889."
PASSAGES = ["The tower is in Paris.", {"text": "Rome is old.", "title": "Rome"}]
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("verify_claim", {"claim": "It is in Paris.", "passages": PASSAGES}),
    ("check_answer", {"answer": ANSWER, "question": "How old is the Eiffel Tower?"}),
    ("check_answer", {"answer": "x", "sources": ["/etc/passwd"]}),
)


async def used(url: str, key: str) -> tuple[list[str], list[Any]]:
    """The names of the tools, and what each call returns."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60)
    async with http, Client(streamable_http_client(f"{url}/mcp/", http_client=http)) as client:
        tools = sorted(tool.name for tool in (await client.list_tools()).tools)
        return tools, [await client.call_tool(*call) for call in CALLS]


def test_over_http_with_a_key(server: Server) -> None:
    tools, (judged, checked, wrong) = asyncio.run(used(server.url, KEY))
    assert tools == ["check_answer", "verify_claim"]
    assert not judged.is_error
    assert len(judged.structured_content["relations"]) == 2
    assert judged.structured_content["strength"] in ("strong", "weak")
    assert not checked.is_error, checked.content
    (claim,) = checked.structured_content["claims"]
    assert claim["claim"] == ANSWER
    assert claim["passages"][0]["quote"]
    assert claim["passages"][0]["title"]
    assert sum(checked.structured_content["counts"].values()) == 1
    assert wrong.is_error
    assert "expected library, web" in wrong.content[0].text
    with pytest.raises(BaseExceptionGroup) as refused:
        asyncio.run(used(server.url, "wrong-key-of-the-tests"))
    assert "MCPError" in repr(refused.value)


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_over_standard_input_at_once(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "attribution", "mcp", "--verifier", "embedded-small"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        assert b'"id":1' in server.stdout.readline()
        server.send_signal(number)
        try:
            assert server.wait(5) == -number
        finally:
            server.kill()
        assert server.stderr.read() == b""
