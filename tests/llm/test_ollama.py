import json

import pytest

from attribution.llm.ollama import models
from tests.servers import http_server


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (
            json.dumps({"models": [{"name": "llama3.1:8b"}, {"name": "qwen2.5"}]}),
            ["llama3.1:8b", "qwen2.5"],
        ),
        (json.dumps({"models": []}), []),
        ("no JSON", []),
        ("[1]", []),
    ],
)
def test_models_are_named_and_another_server_has_none(body: str, found: list[str]) -> None:
    with http_server(
        lambda asked: (200 if asked.path == "/api/tags" else 404, {}, body.encode())
    ) as served:
        assert models(served.url("/v1")) == found


def test_without_a_server_there_are_none() -> None:
    assert models("http://127.0.0.1:9/v1") == []
