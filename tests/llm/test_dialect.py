"""Scripted endpoints that speak as the real ones do (the table in docs/llm.md)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from attribution.llm import learning
from attribution.llm.client import Llm, Question, check_connection
from attribution.llm.dialect import Dialect, json_schema
from attribution.store.store import Store
from attribution.verifiers.llm import PassageVerdicts
from tests.llm_server import KEY, completion, error, llm_server, llm_settings
from tests.servers import Answer, http_server

Body = dict[str, Any]


class Judged(BaseModel):
    reason: str
    label: Literal["factual", "opinion"]


GOOD = '{"reason": "It gives a year.", "label": "factual"}'
JSON = {"Content-Type": "application/json"}


def refusal(status: int, body: object) -> Answer:
    return status, JSON, json.dumps(body).encode()


def unsupported(param: str, message: str) -> Answer:
    """A refusal as OpenAI words it."""
    return refusal(400, {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": "c"}})


def openai(body: Body) -> str | Answer:
    if not body["response_format"]["json_schema"]["strict"]:
        return unsupported("response_format", "expected strict")
    return GOOD


def reasoning(body: Body) -> str | Answer:
    if "max_tokens" in body:
        words = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return unsupported("max_tokens", words)
    if body.get("temperature", 1) != 1:
        words = "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is "
        return unsupported("temperature", words + "supported.")
    return GOOD


def reasoning_temperature_first(body: Body) -> str | Answer:
    return reasoning({k: v for k, v in body.items() if k != "max_tokens"} if "temperature" in body else body)


def developer(body: Body) -> str | Answer:
    if body["messages"][0]["role"] == "system":
        words = "Unsupported value: 'messages[0].role' does not support 'system' with this model; use 'developer'."
        return unsupported("messages[0].role", words)
    return reasoning(body)


def azure(headers: dict[str, str], body: Body) -> str | Answer:
    if {name.lower(): value for name, value in headers.items()}.get("api-key") != KEY:
        words = "Access denied due to invalid subscription key or wrong API endpoint."
        return refusal(401, {"error": {"code": "401", "message": words}})
    return reasoning(body)


def anthropic(body: Body) -> str | Answer:
    if "temperature" in body:
        words = "`temperature` is deprecated for this model."
        return refusal(400, {"error": {"type": "invalid_request_error", "message": words}})
    return f"```json\n{GOOD}\n```"


def gemini(body: Body) -> str | Answer:
    if "additionalProperties" in json.dumps(body["response_format"]):
        words = "Invalid JSON payload. Unknown name \"additionalProperties\" at 'generation_config.response_schema'"
        return refusal(400, [{"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}])
    if body["max_tokens"] < 4000:
        return completion(None, finish="length")
    return GOOD


def mistral(body: Body) -> str | Answer:
    if unknown := body.keys() - {"model", "messages", "temperature", "max_tokens", "response_format"}:
        detail = [{"type": "extra_forbidden", "loc": ["body", name], "input": body} for name in unknown]
        return refusal(422, {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"})
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": '{"reason": "draft", "label": "opinion"}'}]}
    return completion([thought, {"type": "text", "text": GOOD}])


def openrouter(body: Body) -> str | Answer:
    if "response_format" in body:
        return refusal(
            404, {"error": {"code": 404, "message": "No endpoints found that can handle the requested parameters."}}
        )
    return completion(GOOD, reasoning="I think so.")


def openrouter_as_success(body: Body) -> str | Answer:
    if "response_format" in body:
        return refusal(200, {"error": {"code": 400, "message": "json_schema is not supported by this provider"}})
    return GOOD


def ollama(body: Body) -> str | Answer:
    return completion(GOOD, reasoning="The user wants …")


def ollama_thinking(body: Body) -> str | Answer:
    return f'<think>\nPerhaps {{"reason": "no", "label": "opinion"}}?\n</think>\n\n{GOOD}'


def lm_studio(body: Body) -> str | Answer:
    if body.get("response_format", {}).get("type") == "json_object":
        return refusal(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"})
    if "additionalProperties" in json.dumps(body):
        return refusal(400, {"error": "Invalid schema: keyword additionalProperties is not supported"})
    return completion("", reasoning_content=GOOD)


def vllm(body: Body) -> str | Answer:
    if body.get("response_format", {}).get("type") == "json_schema":
        words = "The provided JSON schema contains features not supported by xgrammar."
        return refusal(
            400, {"object": "error", "message": words, "type": "BadRequestError", "param": None, "code": 400}
        )
    if "response_format" in body and "JSON" not in body["messages"][0]["content"]:
        return error(400, "'messages' must contain the word 'json' in some form")
    return f"It gives a year, so …</think>{GOOD}"


def vllm_without_system(body: Body) -> str | Answer:
    if body["messages"][0]["role"] != "user":
        return refusal(400, {"object": "error", "message": "System role not supported", "code": 400})
    return GOOD


def llama_cpp(body: Body) -> str | Answer:
    if body["response_format"]["type"] != "json_object":
        words = [
            {
                "type": "literal_error",
                "loc": ["body", "response_format", "type"],
                "msg": "Input should be 'text' or 'json_object'",
            }
        ]
        return refusal(500, {"error": {"message": json.dumps(words), "type": "internal_server_error"}})
    return "{'reason': \"It's a\nyear\", 'label': 'Factual'}"


def terse(body: Body) -> str | Answer:
    """Says nothing of what it refuses."""
    return refusal(400, {"detail": "Bad Request"}) if "response_format" in body or "temperature" in body else GOOD


ENDPOINTS: dict[Callable[..., str | Answer], int] = {  # → requests for the first prompt
    openai: 1, reasoning: 2, reasoning_temperature_first: 2, developer: 2, azure: 3, anthropic: 2, gemini: 3,
    mistral: 1, openrouter: 2, openrouter_as_success: 3, ollama: 1, ollama_thinking: 1, lm_studio: 2, vllm: 2,
    vllm_without_system: 2, llama_cpp: 2, terse: 2,
}  # fmt: skip


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda e: e.__name__)
def test_an_endpoint_is_learnt_in_three_requests_and_asked_once_afterwards(
    endpoint: Callable[..., str | Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def respond(handler: Any) -> Answer:
        _, _, headers, sent = served.requests[-1]
        made = endpoint(headers, json.loads(sent)) if endpoint is azure else endpoint(json.loads(sent))
        return completion(made) if isinstance(made, str) else made

    with http_server(respond) as served:
        chosen = llm_settings(served, llm_workers=4)
        for number, expected in ((0, ENDPOINTS[endpoint]), (1, 1)):
            before = len(served.requests)
            reply = Llm(chosen).ask(Question(f"Sort {number}.", "sort.v1"), Judged)
            assert reply.value.label == "factual" and len(served.requests) - before == expected <= 3
        learning._memory.cache_clear()  # as in another process
        before = len(served.requests)
        replies = Llm(chosen).map([Question(f"Sort {n}.", "sort.v2") for n in range(5)], Judged)
        assert [getattr(r, "value", r).label for r in replies] == ["factual"] * 5  # type: ignore[union-attr]
        assert len(served.requests) - before == 5


def test_prompts_at_once_learn_once() -> None:
    with llm_server(developer) as served:
        replies = Llm(llm_settings(served, llm_workers=8)).map([Question(str(n), "v") for n in range(8)], Judged)
    assert len(replies) == 8 and len(served.requests) == 1 + 8


def test_another_model_of_the_same_endpoint_is_learnt_for_itself() -> None:
    with llm_server(reasoning) as served:
        for model in ("one", "two"):
            Llm(llm_settings(served, openai_model=model)).ask(Question("Sort.", "v"), Judged)
    assert len(served.requests) == 4


@pytest.mark.parametrize(
    ("endpoint", "found"),
    [
        (openai, ""),
        (developer, " (its own temperature, max_completion_tokens, instructions as developer, room for reasoning)"),
        (vllm, " (JSON without a schema)"),
        (openrouter, " (without structured output, its own temperature)"),
    ],
)
def test_the_test_of_a_connection_says_what_it_found(endpoint: Callable[[Body], str | Answer], found: str) -> None:
    def script(body: Body) -> str | Answer:
        made = endpoint(body)
        return made if isinstance(made, tuple) and made[0] >= 400 else '{"ready": true}'

    with llm_server(script) as served:
        connection = check_connection(llm_settings(served))
    assert connection.ok and connection.message.endswith(f" s{found}.")


def test_a_strict_schema_requires_all_and_allows_nothing_else() -> None:
    made = json_schema(PassageVerdicts, strict=True)
    item = made["properties"]["verdicts"]["items"]
    assert item["additionalProperties"] is made["additionalProperties"] is False and "$ref" not in json.dumps(made)
    assert item["required"] == list(item["properties"]) and item["properties"]["confidence"] == {"type": "number"}
    assert "additionalProperties" not in json.dumps(json_schema(PassageVerdicts, strict=False))


def test_a_known_dialect_that_is_refused_is_learnt_anew(tmp_path: Any) -> None:
    with llm_server(reasoning) as served:
        chosen = llm_settings(served)
        known = learning.memory_of(chosen)
        known.dialect = Dialect("plain")
        Llm(chosen, Store.open(chosen.database_url)).ask(Question("Sort.", "v"), Judged)
    assert known.dialect == Dialect("plain", False, "max_completion_tokens", reasons=True)
