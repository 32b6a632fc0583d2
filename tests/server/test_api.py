import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from attribution.server.bodies import MAX_BODY, MAX_PAIRS
from attribution.server.guard import Keys
from attribution.store.rights import Access
from attribution.store.store import Store
from attribution.types import NOTE
from tests.server.conftest import KEY, OTHER, Server

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
    assert set(found) == {"error"} and set(found["error"]) == {"type", "message"}
    return found["error"]


def test_a_run_streams_its_events_and_stays_with_its_key(
    client: httpx2.Client, server: Server
) -> None:
    events = analyse(client)
    kinds = [e["event"] for e in events]
    assert (
        kinds[0] == "started"
        and kinds[-1] == "finished"
        and {"claims", "verdict", "page"} <= set(kinds)
    )
    report = events[-1]["report"]
    assert [v["label"] for v in report["verdicts"]][0] == "supported" and "text" not in report[
        "pages"
    ][0]
    run = events[0]["run"]
    assert client.get(f"/runs/{run}").json() == report
    assert run in [row["id"] for row in client.get("/runs").json()["runs"]]
    with server.client(OTHER) as other:
        assert run not in [row["id"] for row in other.get("/runs").json()["runs"]]
        for reply in (other.get(f"/runs/{run}"), other.delete(f"/runs/{run}")):
            assert reply.status_code == 404 and error(reply)["type"] == "NotFound"
    assert client.delete(f"/runs/{run}").status_code == 204
    assert client.get(f"/runs/{run}").status_code == 404


def test_a_text_is_read_as_one_whatever_its_name(client: httpx2.Client) -> None:
    *_, last = analyse(client, documents=[{"name": "a.pdf", "text": DOCUMENT["text"]}])
    assert (
        last["report"]["failures"] == [] and last["report"]["verdicts"][0]["label"] == "supported"
    )


def test_a_client_judges_the_claims_of_its_runs(client: httpx2.Client, server: Server) -> None:
    events = analyse(client)
    run, before = events[0]["run"], events[-1]["report"]
    first, second = (f"/runs/{run}/claims/{claim['id']}/verdict" for claim in before["claims"][:2])
    reply = client.put(first, json={"verdict": "contradicted", "note": " <b>no</b> "})
    own = reply.json()
    assert reply.status_code == 200
    assert (own["label"], own["badge"], own["note"]) == ("contradicted", "supported", "<b>no</b>")
    after = client.get(f"/runs/{run}").json()
    assert after["judgements"] == [own] and after["verdicts"] == before["verdicts"]
    assert client.put(first, json={"verdict": "agree"}).json()["label"] == "supported"
    again = client.put(first, json={"verdict": "supported"})
    assert (
        again.status_code == 400
        and "your verdict on this claim is supported already" in error(again)["message"]
    )
    assert client.put(second, json={"verdict": "unclear"}).status_code == 200
    assert client.delete(first).status_code == 204
    assert [j["label"] for j in client.get(f"/runs/{run}").json()["judgements"]] == ["unclear"]
    again = client.delete(first)
    assert again.status_code == 400 and "no verdict of yours" in error(again)["message"]


def test_verdicts_sent_at_once_are_all_kept(client: httpx2.Client) -> None:
    events = analyse(
        client, answer=f"{ANSWER} It has three floors. It was painted red. It is made of iron."
    )
    run, claims = events[0]["run"], events[-1]["report"]["claims"]
    addresses = [f"/runs/{run}/claims/{claim['id']}/verdict" for claim in claims]
    assert len(addresses) >= 5
    with ThreadPoolExecutor(len(addresses)) as pool:
        replies = list(
            pool.map(lambda address: client.put(address, json={"verdict": "agree"}), addresses)
        )
    assert {reply.status_code for reply in replies} == {200}
    assert len(client.get(f"/runs/{run}").json()["judgements"]) == len(addresses)


def test_only_the_owner_judges_a_run_that_others_read_by_its_link(
    client: httpx2.Client, server: Server
) -> None:
    events = analyse(client)
    run, report = events[0]["run"], events[-1]["report"]
    address = f"/runs/{run}/claims/{report['claims'][0]['id']}/verdict"
    store = Store.open(server.settings.database_url, by=Keys([KEY]).owner(f"Bearer {KEY}"))
    store.runs.set_private(run, private=False)
    store.close()
    reader = Store.open(server.settings.database_url, by="a browser with the link")
    assert reader.rights.access(run) == Access(private=False, own=False)
    reader.close()
    with server.client(OTHER) as other, server.client("") as nobody:
        assert client.put(address, json={"verdict": "agree"}).status_code == 200
        for stranger, status, kind in ((other, 404, "NotFound"), (nobody, 401, "WrongKey")):
            for reply in (
                stranger.put(address, json={"verdict": "contradicted"}),
                stranger.delete(address),
            ):
                assert reply.status_code == status and error(reply)["type"] == kind
    (own,) = client.get(f"/runs/{run}").json()["judgements"]
    assert own["label"] == "supported"


def test_a_verdict_that_does_not_fit_is_refused(client: httpx2.Client) -> None:
    events = analyse(client, answer=f"{ANSWER} What do you think?")
    run, report = events[0]["run"], events[-1]["report"]
    verdicts = {verdict["claim_id"]: verdict["label"] for verdict in report["verdicts"]}
    compared = report["claims"][0]["id"]
    refused: list[tuple[str, dict[str, str], int, str]] = [
        (
            "unknown",
            {"verdict": "agree"},
            404,
            f"no claim of this run has that id: get /runs/{run} lists them",
        ),
        (
            compared,
            {"verdict": "right"},
            422,
            "verdict: input should be 'agree', 'supported', 'contradicted'",
        ),
        (
            compared,
            {"verdict": "agree", "note": "x" * (NOTE + 1)},
            422,
            "note: string should have at most 2000",
        ),
        (compared, {"verdict": "agree", "note": "\ud800"}, 422, "surrogate"),
        (compared, {"note": "x"}, 422, "verdict: field required"),
        *(
            (c, {"verdict": "agree"}, 400, "was not compared")
            for c in verdicts
            if verdicts[c] == "not_checked"
        ),
    ]
    assert len(refused) == 6
    for claim, body, status, says in refused:
        headers = {"content-type": "application/json"}
        reply = client.put(
            f"/runs/{run}/claims/{claim}/verdict", content=json.dumps(body), headers=headers
        )
        assert reply.status_code == status and says in error(reply)["message"].lower()
    assert client.delete(f"/runs/{run}/claims/unknown/verdict").status_code == 404
    assert client.get(f"/runs/{run}").json() == report


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
        assert reply.status_code == 400 and "turns: turn 1: expected" in error(reply)["message"]


def test_verify_and_segment(client: httpx2.Client) -> None:
    pairs = [
        {"claim": "The tower is in Paris.", "evidence": "The tower stands in Paris."},
        {"claim": "", "evidence": "x"},
    ]
    first, second = client.post("/verify", json={"pairs": pairs}).json()["results"]
    assert first["relation"] == "entailed" and sum(
        first["probabilities"].values()
    ) == pytest.approx(1, abs=0.01)
    assert first["sentence"] == pairs[0]["evidence"]
    assert second["error"]["type"] == "BadInput"
    given = {
        "text": pairs[0]["evidence"],
        "url": "https://www.reddit.com/r/a/comments/1",
        "title": None,
    }
    judged = client.post(
        "/judge", json={"claim": pairs[0]["claim"], "passages": [given, "Rome is old."]}
    ).json()
    assert (judged["label"], judged["strength"]) == (
        "supported",
        "weak",
    ) and "Only forum pages" in judged["reason"]
    assert [e["relation"] for e in judged["evidence"]] == ["entailed", "no_relation"] and judged[
        "verifier"
    ]
    judged = client.post(
        "/judge", json={"claim": pairs[0]["claim"], "passages": ["Rome is old."]}
    ).json()
    assert (judged["label"], judged["strength"]) == ("no_relation", None)
    claims = client.post("/segment", json={"answer": ANSWER}).json()["claims"]
    assert [ANSWER[slice(*c["spans"][0])] for c in claims] == [c["text"] for c in claims] and len(
        claims
    ) == 2


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/analyze", {"answer": ""}, 400, "empty"),
        ("/analyze", {"answer": "x", "sources": ["/etc/passwd"]}, 400, "expected library, web"),
        ("/analyze", {"answer": "x", "sources": ["README.md"]}, 400, "expected library, web"),
        ("/analyze", {"answer": "x", "sources": ["file:///etc/passwd"]}, 400, "only http"),
        (
            "/analyze",
            {"answer": "x", "sources": ["searxng:http://127.0.0.1"]},
            400,
            "expected library, web",
        ),
        (
            "/analyze",
            {"answer": "x", "sources": ["collection:secret"]},
            400,
            "expected library, web",
        ),
        ("/analyze", {"answer": "x", "sources": []}, 400, "the list is empty"),
        (
            "/analyze",
            {"answer": "x", "settings": {"database_url": "sqlite://"}},
            400,
            "cannot be chosen",
        ),
        ("/analyze", {"answer": "x", "settings": {"openai_api_key": "s"}}, 400, "cannot be chosen"),
        ("/analyze", {"answer": "x", "settings": {"topk": 3}}, 400, "did you mean top_k"),
        ("/analyze", {"answer": "x", "settings": {"top_k": 0}}, 400, "top_k"),
        ("/analyze", {"answer": "x", "segmenter": "none"}, 400, "segmenter"),
        ("/analyze", {"answer": 3}, 422, "answer"),
        ("/analyze", {"answer": "x", "other": 3}, 422, "other"),
        ("/analyze", [], 422, "body"),
        ("/segment", {"answer": "x", "segmenter": "none"}, 400, "expected one of"),
        ("/verify", {"pairs": []}, 422, "pairs"),
        ("/verify", {"pairs": [{"claim": "a", "evidence": "b"}] * (MAX_PAIRS + 1)}, 422, "pairs"),
        (
            "/verify",
            {"pairs": [{"claim": "a", "evidence": "b"}], "verifier": "none"},
            400,
            "expected one of",
        ),
        ("/judge", {"claim": "a", "passages": []}, 422, "passages"),
        ("/judge", {"claim": "a", "passages": [" "]}, 400, "a passage has an empty text"),
        ("/judge", {"claim": "a", "passages": [{"text": "b", "site": "c"}]}, 422, "passages"),
        ("/nothing", {}, 404, "Not Found"),
    ],
)
def test_bad_requests_get_a_typed_error(
    client: httpx2.Client, path: str, body: Any, status: int, says: str
) -> None:
    reply = client.post(path, json=body)
    if reply.status_code == 200:  # found only when the run began
        found = json.loads(reply.text.splitlines()[-1])["error"]
        assert status == 400 and found["type"] in ("BadInput", "UnknownName")
    else:
        assert reply.status_code == status
        found = error(reply)
    assert says.lower() in found["message"].lower()


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/octet-stream", "multipart/form-data; boundary=x", ""]
)
@pytest.mark.parametrize("path", ["/verify", "/judge", "/segment", "/analyze"])
def test_a_body_that_is_not_called_json_is_refused(
    client: httpx2.Client, path: str, kind: str
) -> None:
    reply = client.post(
        path, content=b'{"answer": "x"}', headers={"content-type": kind} if kind else {}
    )
    assert reply.status_code == 422 and "Content-Type: application/json" in error(reply)["message"]


def test_keys_and_sizes(server: Server) -> None:
    for key in ("", "wrong-key-of-the-tests", KEY[:-1], f"{KEY} "[:-1] + "é"):
        headers = {"Authorization": f"Bearer {key}".encode()} if key else {}
        for path in ("/runs", "/mcp/"):
            reply = httpx2.get(server.url + path, headers=headers)
            assert reply.status_code == 401 and error(reply)["type"] == "WrongKey"
            assert not key or key not in reply.text
    assert httpx2.get(f"{server.url}/health").json()["status"] == "ok"
    assert (
        httpx2.get(f"{server.url}/openapi.json").json()["info"]["title"] == "Attribution explorer"
    )
    with server.client() as client:
        large = json.dumps({"answer": "x" * MAX_BODY}).encode()
        assert error(client.post("/analyze", content=large))["type"] == "TooLarge"

        def chunks() -> Any:  # without a length
            for _ in range(MAX_BODY // 50_000 + 2):
                yield b" " * 50_000

        reply = client.post(
            "/segment", content=chunks(), headers={"content-type": "application/json"}
        )
        assert reply.status_code == 413 and error(reply)["type"] == "TooLarge"


def test_the_database_is_not_told_the_key(server: Server, client: httpx2.Client) -> None:
    analyse(client)
    folder = Path(server.settings.database_url.removeprefix("sqlite:///")).parent
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"Eiffel" in content and KEY.encode() not in content
