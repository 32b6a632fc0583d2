"""Scripted endpoints that refuse what real ones do (the table in docs/llm.md)."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from attribution.llm import endpoint
from attribution.llm.client import Llm, Question, check_connection
from tests.llm_server import completion, error, llm_server, llm_settings, prompt_of
from tests.servers import Answer, json_answer

Body = dict[str, Any]


class Judged(BaseModel):
    reason: str
    label: Literal["factual", "opinion"]


GOOD = '{"reason": "It gives a year.", "label": "factual"}'
DRAFT = '{"reason": "no", "label": "opinion"}'
CONTAINS: dict[str, Callable[[Body], bool]] = {
    "temperature": lambda body: "temperature" in body,
    "max_tokens": lambda body: "max_tokens" in body,
    "system": lambda body: body["messages"][0]["role"] == "system",
    "response_format": lambda body: "response_format" in body,
}


def refusal(message: str, status: int = 400, **more: Any) -> Answer:
    return json_answer({"error": {"message": message, **more}}, status)


@dataclass(frozen=True)
class Refusing:
    """An endpoint's refusals by the part of a request that they are about, and its reply."""

    requests: int
    refusals: dict[str, Answer]
    reply: Answer | str = GOOD

    def __call__(self, body: Body) -> Answer | str:
        for part, answer in self.refusals.items():
            if CONTAINS[part](body):
                return answer
        return self.reply


NO_TEMPERATURE = refusal("Unsupported value: 'temperature' does not support 0.0 with this model.")
NO_LENGTH = refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
NO_SYSTEM = refusal("Unsupported value: 'messages[0].role' does not support 'system'.")
ENDPOINTS = {
    "nothing refused": Refusing(1, {}),
    "openai, reasoning": Refusing(3, {"max_tokens": NO_LENGTH, "temperature": NO_TEMPERATURE}),
    "openai, o1": Refusing(
        5,
        {
            "max_tokens": NO_LENGTH,
            "system": NO_SYSTEM,
            "temperature": NO_TEMPERATURE,
            "response_format": refusal("Invalid parameter: 'response_format'"),
        },
    ),
    "gemini": Refusing(
        3,
        {
            "response_format": refusal("Unknown name at 'generation_config.response_schema'"),
            "max_tokens": completion(None, finish="length"),
        },
        completion([{"type": "text", "text": DRAFT, "thought": True}, {"text": GOOD}]),
    ),
    "mistral": Refusing(
        1,
        {},
        completion([{"type": "thinking", "thinking": [{"text": DRAFT}]}, {"text": GOOD}]),
    ),
    "openrouter": Refusing(
        2, {"response_format": refusal("No endpoints found that support json_schema", 404)}
    ),
    "openrouter, as a success": Refusing(
        2, {"response_format": refusal("json_schema is not supported", 200, code=400)}
    ),
    "ollama, thinking": Refusing(1, {}, f"<think>\nPerhaps {DRAFT}?\n</think>\n\n{GOOD}"),
    "llama.cpp": Refusing(2, {"response_format": refusal("failed to parse grammar", 500)}),
    "groq": Refusing(
        2, {"response_format": refusal("Failed to generate JSON.", code="json_validate_failed")}
    ),
    "vllm": Refusing(2, {"system": refusal("System role not supported")}),
    "anthropic": Refusing(2, {"temperature": NO_TEMPERATURE}, f"```json\n{GOOD}\n```"),
    "terse": Refusing(2, {"response_format": refusal("Bad Request", 422)}),
}


@pytest.mark.parametrize("name", ENDPOINTS)
def test_parts_that_a_model_refuses_are_left_out_from_then_on(name: str) -> None:
    scripted = ENDPOINTS[name]
    with llm_server(scripted) as served:
        model = Llm(llm_settings(served))
        assert model.ask(Question("Sort 1.", "v"), Judged).label == "factual"
        assert len(served.requests) == scripted.requests
        assert model.ask(Question("Sort 2.", "v"), Judged).label == "factual"
        assert len(served.requests) == scripted.requests + 1


def test_what_one_model_refuses_is_sent_to_another() -> None:
    with llm_server(ENDPOINTS["vllm"]) as served:
        for model in ("one", "two"):
            Llm(llm_settings(served, openai_model=model)).ask(Question("Sort.", "v"), Judged)
    assert len(served.requests) == 4


def test_a_prompt_that_is_refused_for_itself_changes_no_later_request() -> None:
    def script(body: Body) -> Answer | str:
        return error(400, "too long") if "long" in prompt_of(body) else GOOD

    with llm_server(script) as served:
        client = endpoint.EndpointClient(llm_settings(served))
        with pytest.raises(endpoint.RequestRefused):
            client.complete("s", "a long prompt", Judged, 9, 0.0)
        client.complete("s", "a short one", Judged, 9, 0.0)
    assert client.unsupported == frozenset()
    assert "response_format" in json.loads(served.requests[-1][3])


def test_the_test_of_a_connection_says_what_is_left_out() -> None:
    def script(body: Body) -> Answer | str:
        reply = ENDPOINTS["llama.cpp"](body)
        return '{"ready": true}' if reply == GOOD else reply

    with llm_server(script) as served:
        connection = check_connection(llm_settings(served))
    assert connection.ok
    assert connection.message.endswith(" s (without response_format).")
