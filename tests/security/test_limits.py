import ast
import asyncio
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from attribution.pipeline.permissions import demanded
from attribution.server import limits, mcp
from attribution.server.work import Work
from attribution.settings import LIMITS, ROOT, Settings, trusted
from tests.serve import until
from tests.server.conftest import Server, client, server

__all__ = ["client", "server"]  # fixtures
BOUNDED = {"max_chars", "max_upload_size"}


def unbounded(schema: Any, definitions: dict[str, Any], where: str) -> Iterator[str]:
    """The places of a JSON schema that take a text or list of any length."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    for part in (*schema.get("anyOf", ()), *schema.get("prefixItems", ())):
        yield from unbounded(part, definitions, where)
    fixed = {"enum", "const", "maxLength"} & schema.keys()
    if schema.get("type") == "string" and not fixed:
        yield where
    if schema.get("type") == "array" and "maxItems" not in schema:
        yield where
    if isinstance(schema.get("items"), dict):
        yield from unbounded(schema["items"], definitions, f"{where}[]")
    if schema.get("type") == "object" and not {"properties", "maxProperties"} & schema.keys():
        yield where
    for name, part in schema.get("properties", {}).items():
        yield from unbounded(part, definitions, f"{where}.{name}")


def test_every_setting_of_a_stranger_is_bounded() -> None:
    schema = Settings.model_json_schema(mode="validation")
    names = trusted("anyone", "limit", "sources", "model", "session")
    patterned = {"search_language"}  # at most 12 characters
    found = [
        place
        for name in names
        for place in unbounded(schema["properties"][name], schema.get("$defs", {}), name)
        if name not in patterned
    ]
    assert found == []
    assert len(names) > 30


def test_every_field_of_a_request_is_bounded(client: httpx.Client) -> None:
    api = client.get("/openapi.json").json()
    definitions = api["components"]["schemas"]
    operations = [one for methods in api["paths"].values() for one in methods.values()]
    assert not any("parameters" in one for one in operations)
    bodies = [one["requestBody"] for one in operations if "requestBody" in one]
    schemas = [body["content"]["application/json"]["schema"] for body in bodies]
    assert len(schemas) == 3
    assert [place for schema in schemas for place in unbounded(schema, definitions, "body")] == []


def test_every_parameter_of_a_tool_is_bounded(server: Server) -> None:
    tools = asyncio.run(mcp.server(server.settings, Work(server.turns)).list_tools())
    schemas = [(tool.name, tool.input_schema) for tool in tools]
    assert len(schemas) == 2
    assert [
        place
        for name, schema in schemas
        for place in unbounded(schema, schema.get("$defs", {}), name)
    ] == []


def test_every_field_and_upload_of_a_page_is_bounded() -> None:
    """Streamlit cuts what a client sends to `max_chars`, whatever the client."""
    found = 0
    for path in (ROOT / "pages").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = (
                node.func.attr
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                else ""
            )
            if name in ("text_input", "text_area", "file_uploader", "chat_input", "data_editor"):
                assert isinstance(node, ast.Call)
                assert BOUNDED & {keyword.arg for keyword in node.keywords}, (
                    f"{path.name}, line {node.lineno}"
                )
                found += 1
    assert found > 20
    server = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["server"]
    assert (server["maxUploadSize"], server["maxWidgetStateSize"]) == (
        LIMITS.file_mb,
        LIMITS.message_mb,
    )


def test_the_text_that_a_request_has_compared_is_bounded(client: httpx.Client) -> None:
    body = {"claim": "The Nile is long.", "passages": ["The Nile is a river. " * 200] * 48}
    judged = client.post("/judge", json=body)
    wide = {"answer": "The Nile is long.", "settings": {"top_k": 50, "chunk_size": 8000}}
    analyzed = client.post("/analyze", json=wide)
    assert (judged.status_code, analyzed.status_code) == (400, 400)
    assert "characters of claims and passages" in judged.json()["error"]["message"]
    assert "less than or equal to 20" in analyzed.json()["error"]["message"]
    assert demanded({"top_k": 20}, Settings()).top_k == 20


def test_a_full_server_closes_what_had_its_reply_or_reads_none(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        full = Server(settings)
        stack.callback(full.close)
        monkeypatch.setattr(limits, "CONNECTIONS", 4)

        def opened() -> HTTPConnection:
            connection = HTTPConnection(urlsplit(full.url).netloc, timeout=60)
            connection.connect()
            return stack.enter_context(closing(connection))

        statuses = [status(opened()) for _ in range(5)]
        assert statuses == [200] * 5  # the last in place of the first, which had its reply
        for _ in range(3):
            opened().sock.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
        connections = full.uvicorn.server_state.connections
        until(lambda: sum(one.flow.write_paused for one in connections.copy()) == 3)
        assert status(opened()) == 200  # in place of one whose replies are not read


def status(connection: HTTPConnection) -> int:
    connection.request("GET", "/health")
    with connection.getresponse() as reply:
        reply.read()
        return reply.status
