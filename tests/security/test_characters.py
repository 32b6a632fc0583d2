"""Half of a surrogate pair, which JSON can escape and nothing can hold, is refused wherever text
enters: one line.
"""

import json
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel

from attribution.llm.replies import parse
from attribution.searchers.json_api import as_hits
from tests.server.conftest import client, server

__all__ = ["client", "server"]  # fixtures
HALF, SAYS = "\ud800", "half of a surrogate pair"
TURN = {"speaker": "user", "text": f"What? {HALF}"}


@pytest.mark.parametrize(
    "body",
    [
        {"turns": [TURN]},
        {"answer": f"It rains. {HALF}"},
        {"question": HALF},
        {HALF: 1},
    ],
)
@pytest.mark.parametrize("path", ["/analyze", "/segment"])
def test_a_request_is_refused(client: httpx2.Client, path: str, body: dict[str, Any]) -> None:
    content = json.dumps({"answer": "It rains.", **body}).encode()
    reply = client.post(path, content=content, headers={"Content-Type": "application/json"})
    assert reply.status_code in (400, 422), reply.text
    message = reply.json()["error"]["message"]
    assert SAYS in message
    assert "\n" not in message


def test_a_reply_of_a_language_model_does_not_parse() -> None:
    class Facts(BaseModel):
        facts: list[str]

    with pytest.raises(ValueError, match="its reply does not parse"):
        parse('{"facts": ["It rains. \\ud800"]}', Facts)


def test_an_engine_names_no_such_address() -> None:
    (hit,) = as_hits("x", [(f"https://x.org/{HALF}", ""), ("https://x.org/", f"a{HALF}")], "q", 3)
    assert (hit.url, hit.title) == ("https://x.org/", "a")
