"""Half of a surrogate pair, which JSON can escape and nothing can hold, is refused wherever text
enters: one line.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from attribution.llm.replies import parse
from attribution.searchers.json_api import as_hits
from attribution.settings import Settings
from tests.server.conftest import Server

HALF, SAYS = "\ud800", "half of a surrogate pair"
ESCAPED = '[{"speaker": "user", "text": "What is the Eiffel Tower? \\ud800"}]'
TURN = {"speaker": "user", "text": f"What? {HALF}"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    database = tmp_path_factory.mktemp("served") / "a.sqlite3"
    made = Server(Settings(database_url=f"sqlite:///{database}", verifier="embedded-small"))
    yield made
    made.close()


@pytest.mark.parametrize(
    "body",
    [
        {"turns": [TURN]},
        {"answer": f"It rains. {HALF}"},
        {"question": HALF},
        {HALF: 1},
    ],
)
def test_a_request_is_refused(served: Server, body: dict[str, Any]) -> None:
    refused(served, "/analyze", {"answer": "It rains.", **body})
    refused(served, "/segment", {"answer": "It rains.", **body})


def refused(served: Server, path: str, body: dict[str, Any]) -> None:
    with served.client() as client:
        headers = {"Content-Type": "application/json"}
        reply = client.post(path, content=json.dumps(body).encode(), headers=headers)
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
