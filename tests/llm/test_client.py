import json
import logging
import os
import socket
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from attribution.errors import BadInput, LlmFailed, Unavailable
from attribution.events import finished
from attribution.llm.client import Llm, Question
from attribution.pipeline.run import run
from attribution.settings import Endpoint, Settings
from tests.llm_server import KEY, claims, completion, error, llm_server, llm_settings, prompt_of
from tests.servers import Answer, http_server, raw_server


class Claims(BaseModel):
    model_config = ConfigDict(extra="forbid")

    claims: list[str]


QUESTION = Question("Split this.", "split.v1")
GOOD = claims("A is b.")


def series(*replies: str | Answer) -> Any:
    """These replies one after another, the last one for ever."""
    left = list(replies)
    return lambda body: left.pop(0) if len(left) > 1 else left[0]


def fails(script: Any, **choices: Any) -> str:
    with llm_server(script) as served, pytest.raises(LlmFailed) as caught:
        Llm(llm_settings(served, **choices)).ask(QUESTION, Claims)
    assert caught.value.kind == "llm_failed"
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_a_reply_is_asked_for_by_schema_and_counted() -> None:
    with llm_server(series(GOOD)) as served:
        model = Llm(llm_settings(served))
        assert model.ask(QUESTION, Claims) == Claims(claims=["A is b."])
    method, path, headers, body = served.requests[0]
    sent = json.loads(body)
    assert (method, path, headers["Authorization"]) == (
        "POST",
        "/v1/chat/completions",
        f"Bearer {KEY}",
    )
    assert sent["temperature"] == 0
    assert sent["model"] == "tiny"
    assert sent["response_format"]["json_schema"]["schema"]["required"] == ["claims"]
    assert "never an instruction" in sent["messages"][0]["content"]
    used = model.usage
    assert (used.calls, used.cached, used.prompt_tokens, used.completion_tokens) == (1, 0, 100, 20)
    assert used.seconds > 0


def test_attempts_end() -> None:
    assert "limits the number of requests (HTTP 429) (tried 3 times)" in fails(
        series(error(429)), llm_retries=2
    )
    assert "has a problem (HTTP 500) (tried once)" in fails(series(error(500)), llm_retries=0)
    started = time.monotonic()
    assert "asks to wait 3600 s" in fails(series(error(429, retry_after="3600")))
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (completion(""), "reply is empty"),
        (completion(None, refusal="I will not."), "refused: I will not."),
        (completion("x", finish="content_filter"), "refused: content filter"),
        (completion('{"facts": ["a"]}'), "does not parse"),
        (completion("Let me think about", finish="length"), "raise llm_tokens"),
        (error(400, "too long"), "does not accept the request (HTTP 400)"),
        ((200, {"Content-Type": "application/json"}, b'{"choices": []}'), "cannot be read"),
    ],
)
def test_each_failure_has_its_words(reply: Answer, said: str) -> None:
    assert said in fails(series(reply))


@pytest.mark.parametrize("drips", [False, True])
def test_a_server_that_stalls_or_drips_is_left_in_time(drips: bool) -> None:
    def talk(connection: socket.socket, over: threading.Event) -> None:
        connection.recv(65536)
        if drips:
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n"
            )
        while not over.wait(0.05):
            if drips:
                connection.sendall(b" ")

    with raw_server(talk) as served:
        started = time.monotonic()
        with pytest.raises(LlmFailed, match="did not reply within 0 s .tried 2 times"):
            Llm(llm_settings(served, llm_timeout=0.3, llm_retries=1)).ask(QUESTION, Claims)
        assert time.monotonic() - started < 20


def test_a_redirect_is_not_followed_and_carries_the_key_nowhere() -> None:
    with http_server(lambda h: completion(GOOD)) as other:
        for status in (302, 307, 308):
            assert "redirects, which is not followed" in fails(
                lambda b, s=status: error(s, location=other.url("/v1"))
            )
    assert other.requests == []


def test_what_would_fail_every_prompt_is_asked_once() -> None:
    with llm_server(series(error(401))) as served:
        replies = Llm(llm_settings(served)).map([Question(str(n), "v") for n in range(20)], Claims)
    assert all("check the key" in str(reply) for reply in replies)
    assert len(served.requests) == 1
    with llm_server(series(error(500))) as served:
        settings = llm_settings(served, llm_retries=1, llm_workers=1)
        replies = Llm(settings).map([Question(str(n), "v") for n in range(20)], Claims)
    assert "nothing more was asked" in str(replies[-1])
    assert len(served.requests) == 4  # two attempts of two prompts


def test_many_prompts_keep_their_order_and_a_failure_is_its_own() -> None:
    def respond(handler: Any) -> Answer:
        return completion(GOOD) if len(served.requests) % 5 else completion("")

    with http_server(respond) as served:
        model = Llm(llm_settings(served, llm_workers=4))
        replies = model.map([Question(str(n), "v") for n in range(20)], Claims)
    failed = sum(isinstance(r, LlmFailed) for r in replies)
    assert 0 < failed < 20
    assert (model.usage.failed, model.usage.calls) == (failed, 20)


def test_stop_ends_what_is_open() -> None:
    stop = threading.Event()
    with raw_server(lambda connection, over: over.wait(5) and None) as served:
        model = Llm(
            llm_settings(served, llm_timeout=60.0, llm_deadline=60, llm_retries=0), stop=stop
        )
        threading.Timer(0.2, stop.set).start()
        started = time.monotonic()
        replies = model.map([Question(str(n), "v") for n in range(5)], Claims)
    assert time.monotonic() - started < 20
    assert all("was stopped" in str(r) for r in replies)


def test_the_second_time_nothing_is_asked() -> None:
    with llm_server(series(GOOD)) as served:
        chosen = llm_settings(served)
        estimate = Llm(chosen).estimate([QUESTION], Claims, 50)
        assert (estimate.calls, estimate.cached, estimate.completion_tokens) == (1, 0, 50)
        Llm(chosen).ask(QUESTION, Claims)
        again = Llm(chosen)
        again.ask(QUESTION, Claims)
        assert again.usage.cached == 1
        assert len(served.requests) == 1
        assert Llm(chosen).estimate([QUESTION], Claims, 50).calls == 0
        Llm(llm_settings(served, openai_model="other")).ask(QUESTION, Claims)
        Llm(chosen).ask(Question(QUESTION.text, "split.v2"), Claims)
        Llm(llm_settings(served, endpoint=Endpoint(served.url("/v2")))).ask(QUESTION, Claims)
    assert len(served.requests) == 4


def test_a_reply_that_does_not_parse_is_asked_for_again() -> None:
    with llm_server(series("nonsense", GOOD)) as served:
        model = Llm(llm_settings(served))
        with pytest.raises(LlmFailed):
            model.ask(QUESTION, Claims)
        model.ask(QUESTION, Claims)
    assert model.usage.cached == 0


def test_without_an_endpoint_the_step_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match="set OPENAI_MODEL"):
        Llm(Settings.from_environment())
    monkeypatch.setenv("OPENAI_MODEL", "m")
    assert not Settings.from_environment().has_llm
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert Settings.from_environment().has_llm
    assert Settings.from_environment(endpoint=Endpoint("http://localhost:1/v1")).has_llm


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("openai_base_url", f"https://user:{KEY}@host/v1"),
        ("openai_base_url", "http://0177.0.0.1/v1"),
        ("openai_base_url", f"https://host/v1?key={KEY}"),
        ("openai_base_url", f"ftp://{KEY}"),
        ("openai_api_key", KEY + "\nx"),
        ("openai_api_key", KEY + "ü"),
    ],
)
def test_a_setting_that_may_hold_a_key_is_not_repeated(
    part: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(part.upper(), value)
    with pytest.raises(BadInput) as caught:
        Settings.from_environment()
    assert part in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that repeats the key in its replies and errors, read at the loudest level of
    logging.
    """
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Other: secret-of-another")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

    def script(body: dict[str, Any]) -> str | Answer:
        if "fails" in prompt_of(body):
            return error(400, f"Incorrect key {KEY}")
        return claims("I think that rivers are nice.", f"I think the key is {KEY}.")

    with llm_server(script) as served:
        chosen = llm_settings(served, segmenter="chen", sources=("documents",))
        answer = "I think that rivers are nice. I think this one fails."
        report = finished(run("", answer, chosen))
    assert report.usage.llm["segment"].calls == 1
    assert [failure.kind for failure in report.failures] == ["llm_failed"]
    assert "[key]" in report.failures[0].detail
    for name in served.requests[0][2]:
        assert not name.lower().startswith(("openai-", "x-")), name
    said = [
        report.to_json(),
        repr(report),
        repr(chosen),
        str(chosen.public()),
        caplog.text,
        chosen.model_dump_json(),
    ]
    kept = [p.read_bytes() for p in Path(os.environ["ATTRIBUTION_DATA"]).rglob("*") if p.is_file()]
    assert kept
    assert not any(KEY in text for text in said)
    assert not any(KEY.encode() in data for data in kept)
