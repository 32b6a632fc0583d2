import json
import logging
from http.server import BaseHTTPRequestHandler

import numpy as np
import pytest
from pydantic import SecretStr

from attribution.embedders import EMBEDDERS
from attribution.embedders import openai as endpoint
from attribution.errors import BadInput, Unavailable
from attribution.settings import Endpoint, Settings
from tests.servers import Answer, Served, http_server, json_answer

KEY = "sk-very-secret-1234"


def embedder(server: Served) -> endpoint.OpenAI:
    return endpoint.OpenAI(
        Settings(endpoint=Endpoint(server.url("/v1"), SecretStr(KEY)), embedding_model="m-1")
    )


def test_texts_become_unit_rows_in_order_and_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "BATCH", 3)

    def respond(handler: BaseHTTPRequestHandler) -> Answer:
        texts = json.loads(served.requests[-1][3])["input"]
        rows = [
            {"object": "embedding", "index": i, "embedding": [len(t), 1.0]}
            for i, t in enumerate(texts)
        ]
        return json_answer({"object": "list", "model": "m-1", "data": rows[::-1]})

    with http_server(respond) as served:
        made = embedder(served).embed(["a", "bb", "ccc", "dddd"])
    assert made.dtype == np.float32
    assert made.shape == (4, 2)
    assert np.allclose(np.linalg.norm(made, axis=1), 1)
    assert np.allclose(made[:, 0] / made[:, 1], [1, 2, 3, 4])
    assert served.paths == ["/v1/embeddings"] * 2
    assert json.loads(served.requests[0][3])["model"] == "m-1"
    headers = {name.lower(): value for name, value in served.requests[0][2].items()}
    assert headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("status", "body", "error", "words"),
    [
        (401, {"error": {"message": f"Incorrect API key {KEY}"}}, Unavailable, "check the key"),
        (404, {}, Unavailable, "check the model"),
        (400, {"error": {"message": "too long"}}, BadInput, "chunk_size"),
        (200, {"data": []}, Unavailable, "cannot be read"),
        (200, [1, 2], Unavailable, "cannot be read"),
        (200, {"data": [{"index": 0, "embedding": [1, "x"]}]}, Unavailable, "cannot be read"),
    ],
)
def test_what_goes_wrong_is_said_without_the_key(
    status: int, body: object, error: type[Exception], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with http_server(lambda handler: json_answer(body, status)) as served:
        used = embedder(served)
        with pytest.raises(error, match=words) as caught:
            used.embed(["a text"])
    assert KEY not in str(caught.value) + caplog.text + repr(used._settings) + str(
        used._settings.public()
    )


def test_a_key_that_was_typed_is_enough() -> None:
    """Typed in the sidebar it is a setting, and in no environment."""
    typed = Settings(endpoint=Endpoint(key=SecretStr(KEY)))
    assert EMBEDDERS["openai"].missing(typed) == ""
    assert "OPENAI_API_KEY" in EMBEDDERS["openai"].missing(Settings())
    assert EMBEDDERS["openai"].missing(Settings(endpoint=Endpoint("http://127.0.0.1:1/v1"))) == ""
