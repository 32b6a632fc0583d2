"""Half of a surrogate pair, which JSON can escape and nothing can hold, is refused wherever text
enters: one line.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from attribution.errors import BadInput
from attribution.llm.parsing import parse
from attribution.pipeline.snapshot import load
from attribution.searchers.json_api import as_hits
from attribution.settings import Settings
from tests.pages.jobs import opened
from tests.pipeline.test_snapshot_file import forged
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


@pytest.mark.parametrize("path", ["/analyze", "/segment"])
@pytest.mark.parametrize(
    "body",
    [
        {"turns": [TURN]},
        {"turns": ESCAPED},
        {"turns": f"User: What? {HALF}"},
        {"turns": [{HALF: 1}]},
        {"answer": f"It rains. {HALF}"},
        {"question": HALF},
        {"segmenter": HALF},
        {HALF: 1},
    ],
)
def test_a_request_is_refused(served: Server, path: str, body: dict[str, Any]) -> None:
    refused(served, path, {"answer": "It rains.", **body})


@pytest.mark.parametrize(
    "body",
    [
        {"sources": [HALF]},
        {"verifier": HALF},
        {"settings": {HALF: 1}},
        {"settings": {"verifier_model": HALF}},
        {"documents": [{"name": HALF, "text": "x"}]},
        {"documents": [{"name": "x", "text": HALF}]},
    ],
)
def test_a_request_for_a_run_is_refused(served: Server, body: dict[str, Any]) -> None:
    refused(served, "/analyze", {"answer": "It rains.", **body})
    refused(served, "/verify", {"pairs": [{"claim": "x", "evidence": HALF}]})


def refused(served: Server, path: str, body: dict[str, Any]) -> None:
    with served.client() as client:
        headers = {"Content-Type": "application/json"}
        reply = client.post(path, content=json.dumps(body).encode(), headers=headers)
    assert reply.status_code in (400, 422), reply.text
    message = reply.json()["error"]["message"]
    assert SAYS in message and "\n" not in message


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("check_answer", {"answer": HALF}),
        ("check_answer", {"answer": "It rains.", "turns": [TURN]}),
        ("check_answer", {"answer": "It rains.", "sources": [HALF]}),
        ("verify_claim", {"claim": "It rains.", "passages": [HALF]}),
        ("find_evidence", {"claim": HALF}),
    ],
)
def test_a_tool_of_an_assistant_is_refused(
    served: Server, tool: str, arguments: dict[str, Any]
) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    with served.client() as client:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        reply = client.post("/mcp/", content=json.dumps(call).encode(), headers=headers)
    assert reply.status_code < 500 and "Traceback" not in reply.text
    if reply.status_code == 200:
        assert reply.json()["result"]["isError"] and SAYS in reply.text


def test_the_page_says_so_of_the_earlier_turns() -> None:
    at = opened("explore")
    next(t for t in at.text_area if t.label == "The conversation before the question").set_value(
        ESCAPED
    ).run()
    assert not at.exception and SAYS in "".join(h.body for h in at.get("html"))
    assert next(b for b in at.button if b.label == "Analyse").disabled


def test_a_snapshot_with_half_a_character_is_refused() -> None:
    with pytest.raises(BadInput, match="not a usable snapshot file"):
        load(forged("report.json", lambda text: text.replace('"Wie lang? ', '"\\ud800 ')))


def test_a_reply_of_a_language_model_does_not_parse() -> None:
    class Facts(BaseModel):
        facts: list[str]

    with pytest.raises(ValueError, match="its reply does not parse"):
        parse('{"facts": ["It rains. \\ud800"]}', Facts)


def test_an_engine_names_no_such_address() -> None:
    (hit,) = as_hits("x", [(f"https://x.org/{HALF}", ""), ("https://x.org/", f"a{HALF}")], "q", 3)
    assert (hit.url, hit.title) == ("https://x.org/", "a")
