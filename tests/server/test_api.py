import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from attribution.settings import LIMITS
from attribution.store.store import Store
from tests.serve import KEY
from tests.server.conftest import Server

ANSWER = "The Eiffel Tower was completed in 1889. It stands in Berlin."
DOCUMENT = {
    "name": "tower.txt",
    "text": "The Eiffel Tower stands in Paris. It was completed in 1889.",
}


def analyse(client: httpx2.Client, **body: Any) -> list[dict[str, Any]]:
    body = {"answer": ANSWER, "sources": [], "documents": [DOCUMENT]} | body
    with client.stream("POST", "/analyze", json=body) as reply:
        assert reply.status_code == 200, reply.read()
        return [json.loads(line) for line in reply.iter_lines()]


def error(reply: httpx2.Response) -> dict[str, str]:
    found = reply.json()
    assert set(found) == {"error"}
    assert set(found["error"]) == {"type", "message"}
    return found["error"]


def test_a_run_streams_its_events_and_is_not_saved(client: httpx2.Client, server: Server) -> None:
    events = analyse(client)
    kinds = [e["event"] for e in events]
    assert (kinds[0], kinds[-1]) == ("started", "finished")
    assert {"claims", "verdict", "page"} <= set(kinds)
    report = events[-1]["report"]
    assert report["verdicts"][0]["label"] == "supported"
    assert "text" not in report["pages"][0]
    store = Store.open(server.settings.database_url)
    assert store.runs.load(events[0]["run"]) is None


def test_a_text_is_read_as_one_whatever_its_name(client: httpx2.Client) -> None:
    *_, last = analyse(client, documents=[{"name": "a.pdf", "text": DOCUMENT["text"]}])
    assert last["report"]["failures"] == []
    assert last["report"]["verdicts"][0]["label"] == "supported"


def test_a_run_knows_the_conversation_before_it(client: httpx2.Client) -> None:
    body = {"question": "When was it built?", "answer": "It was finished in 1889."}
    for turns in (
        "User: What is the Eiffel Tower?",
        [{"role": "user", "content": "What is the Eiffel Tower?"}],
    ):
        reply = client.post("/analyze", json=body | {"turns": turns})
        report = json.loads(reply.text.splitlines()[-1])["report"]
        assert report["context"] == [["user", "What is the Eiffel Tower?"]]
        assert report["claims"][0]["enriched"] == "The Eiffel Tower was finished in 1889."
    for path in ("/analyze", "/segment"):
        reply = client.post(path, json=body | {"turns": [{"speaker": "nobody"}]})
        assert reply.status_code == 400
        assert "turns: turn 1: expected" in error(reply)["message"]


def test_judge_weighs_passages_by_their_source(client: httpx2.Client) -> None:
    forum = {"text": "The tower stands in Paris.", "url": "https://www.reddit.com/r/a/comments/1"}
    body = {
        "claim": "The tower is in Paris.",
        "passages": [forum, "Copper prices rose in 2021."],
    }
    judged = client.post("/judge", json=body).json()
    assert (judged["label"], judged["strength"]) == ("unclear", None)
    assert [e["relation"] for e in judged["evidence"]] == ["entailed", "no_relation"]
    judged = client.post(
        "/judge", json={**body, "passages": ["Copper prices rose in 2021."]}
    ).json()
    assert (judged["label"], judged["strength"]) == ("no_relation", None)


def test_segment_returns_claims_with_their_spans(client: httpx2.Client) -> None:
    claims = client.post("/segment", json={"answer": ANSWER}).json()["claims"]
    assert [ANSWER[slice(*claim["spans"][0])] for claim in claims] == [c["text"] for c in claims]
    assert len(claims) == 2


PAIR = {"claim": "a", "passages": ["b"]}


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/analyze", {"answer": ""}, 400, "empty"),
        ("/analyze", {"answer": "x", "sources": ["/etc/passwd"]}, 400, "expected library, web"),
        ("/analyze", {"answer": "x", "sources": ["file:///etc/passwd"]}, 400, "only http"),
        ("/analyze", {"answer": "x", "sources": ["collection:x"]}, 400, "expected library, web"),
        ("/analyze", {"answer": "x", "sources": []}, 400, "the list is empty"),
        ("/analyze", {"answer": "x", "settings": {"openai_api_key": "s"}}, 400, "cannot be chosen"),
        ("/analyze", {"answer": "x", "settings": {"topk": 3}}, 400, "no such setting"),
        ("/analyze", {"answer": "x", "settings": {"max_pages": 9999}}, 400, "300 at most"),
        ("/judge", {**PAIR, "settings": {"library": "/etc"}}, 400, "cannot be chosen"),
        ("/analyze", {"answer": 3}, 422, "answer"),
        ("/analyze", {"answer": "x", "other": 3}, 422, "other"),
        ("/segment", {"answer": "x", "segmenter": "none"}, 400, "expected one of"),
        ("/judge", {"claim": "a", "passages": ["b"] * (LIMITS.passages + 1)}, 422, "passages"),
        ("/judge", {"claim": "a", "passages": [" "]}, 400, "a passage has an empty text"),
        ("/nothing", {}, 404, "Not Found"),
    ],
)
def test_bad_requests_get_a_typed_error(
    client: httpx2.Client, path: str, body: Any, status: int, says: str
) -> None:
    reply = client.post(path, json=body)
    assert reply.status_code == status
    assert says.lower() in error(reply)["message"].lower()


@pytest.mark.parametrize("kind", ["text/plain", ""])
@pytest.mark.parametrize("path", ["/judge", "/analyze"])
def test_a_body_that_is_not_called_json_is_refused(
    client: httpx2.Client, path: str, kind: str
) -> None:
    reply = client.post(
        path, content=b'{"answer": "x"}', headers={"content-type": kind} if kind else {}
    )
    assert reply.status_code == 422
    assert "Content-Type: application/json" in error(reply)["message"]


def test_keys_and_sizes(server: Server) -> None:
    for key in ("", "wrong-key-of-the-tests", KEY[:-1], f"{KEY} "[:-1] + "é"):
        headers = {"Authorization": f"Bearer {key}".encode()} if key else {}
        for path in ("/judge", "/mcp/"):
            reply = httpx2.post(server.url + path, headers=headers)
            assert reply.status_code == 401
            assert error(reply)["type"] == "WrongKey"
            assert not key or key not in reply.text
    assert httpx2.get(f"{server.url}/health").json()["status"] == "ok"
    assert (
        httpx2.get(f"{server.url}/openapi.json").json()["info"]["title"] == "Attribution explorer"
    )
    with server.client() as client:
        large = json.dumps({"answer": "x" * LIMITS.request}).encode()
        assert error(client.post("/analyze", content=large))["type"] == "TooLarge"

        def chunks() -> Any:  # without a length
            for _ in range(LIMITS.request // 50_000 + 2):
                yield b" " * 50_000

        reply = client.post(
            "/segment", content=chunks(), headers={"content-type": "application/json"}
        )
        assert reply.status_code == 413
        assert error(reply)["type"] == "TooLarge"


def test_the_database_is_not_told_the_key(server: Server, client: httpx2.Client) -> None:
    analyse(client)
    folder = Path(server.settings.database_url.removeprefix("sqlite:///")).parent
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert KEY.encode() not in content
