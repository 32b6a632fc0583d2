"""Scripted endpoints that speak as the real ones do (the table in docs/llm.md)."""

import json
from collections.abc import Callable
from dataclasses import dataclass
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
DRAFT = '{"reason": "no", "label": "opinion"}'
PAGE = b'<html><head><title>400 Bad Request</title></head><body role="main">The schema of temperature</body></html>'
FORM: dict[str, Callable[[Body], bool]] = {  # what a request may hold that is refused
    "anything": lambda body: True,
    "temperature": lambda body: body.get("temperature", 1) != 1,
    "max_tokens": lambda body: "max_tokens" in body,
    "few tokens": lambda body: body.get("max_tokens", 9999) < 4000,
    "a system role": lambda body: body["messages"][0]["role"] == "system",
    "a role": lambda body: body["messages"][0]["role"] != "user",
    "a form": lambda body: "response_format" in body,
    "a schema": lambda body: body.get("response_format", {}).get("type") == "json_schema",
    "an object": lambda body: body.get("response_format", {}).get("type") == "json_object",
    "no strict schema": lambda body: not body["response_format"]["json_schema"]["strict"],
    "additional": lambda body: "additionalProperties" in json.dumps(body.get("response_format")),
    "no word": lambda body: (
        "response_format" in body and "JSON" not in body["messages"][0]["content"]
    ),
    "unknown": lambda body: bool(
        body.keys() - {"model", "messages", "temperature", "max_tokens", "response_format"}
    ),
}


def refusal(status: int, body: object) -> Answer:
    return status, JSON, json.dumps(body).encode()


def openai_error(param: str, message: str) -> Answer:
    return refusal(
        400,
        {
            "error": {
                "message": message,
                "type": "invalid_request_error",
                "param": param,
                "code": "c",
            }
        },
    )


def plain_error(message: str, status: int = 400, **more: Any) -> Answer:
    return refusal(status, {"error": {"message": message, **more}})


@dataclass(frozen=True)
class Endpoint:
    """A server's refusals, in its order and words; its reply; and the requests that the first
    prompt may take.
    """

    requests: int
    refused: dict[str, Answer]
    reply: str | Answer = GOOD
    api_key: bool = False

    def __call__(self, body: Body) -> Answer:
        for part, answer in self.refused.items():
            if FORM[part](body):
                return answer
        return completion(self.reply) if isinstance(self.reply, str) else self.reply


NO_LENGTH = openai_error(
    "max_tokens",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
)
NO_TEMPERATURE = openai_error(
    "temperature",
    "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported.",
)
NO_SYSTEM = "Unsupported value: 'messages[0].role' does not support 'system' with this model"
DEVELOPER = openai_error("messages[0].role", f"{NO_SYSTEM}; use 'developer'.")
PYDANTIC = [
    {
        "type": "literal_error",
        "loc": ["body", "response_format", "type"],
        "msg": "Input should be 'text' or 'json_object'",
    }
]
REASONING = {"max_tokens": NO_LENGTH, "temperature": NO_TEMPERATURE}
ENDPOINTS = {
    "openai": Endpoint(1, {"no strict schema": openai_error("response_format", "expected strict")}),
    "openai-reasoning": Endpoint(2, REASONING),
    "openai-temperature-first": Endpoint(
        2, {"temperature": NO_TEMPERATURE, "max_tokens": NO_LENGTH}
    ),
    "openai-developer": Endpoint(2, {"a system role": DEVELOPER, **REASONING}),
    "openai-o1": Endpoint(
        3,
        {
            "max_tokens": NO_LENGTH,
            "a role": openai_error("messages[0].role", f"{NO_SYSTEM}."),
            "temperature": NO_TEMPERATURE,
            "a form": openai_error(
                "response_format",
                "Invalid parameter: 'response_format' of type 'json_schema' is not "
                "supported with this model.",
            ),
        },
    ),
    "azure": Endpoint(
        3, REASONING, completion(GOOD, refusal=None, content_filter_results=None), api_key=True
    ),
    "anthropic": Endpoint(
        2,
        {
            "temperature": plain_error(
                "`temperature` is deprecated for this model.", type="invalid_request_error"
            )
        },
        f"```json\n{GOOD}\n```",
    ),
    "gemini": Endpoint(
        3,
        {
            "additional": refusal(
                400,
                [
                    {
                        "error": {
                            "code": 400,
                            "status": "INVALID_ARGUMENT",
                            "message": "Invalid JSON "
                            "payload. Unknown name \"additionalProperties\" at 'generation_config.response_schema'",
                        }
                    }
                ],
            ),
            "few tokens": completion(None, finish="length"),
        },
        completion([{"type": "text", "text": DRAFT, "thought": True}, {"text": GOOD}]),
    ),
    "gemini-thought": Endpoint(1, {}, f"<thought>{DRAFT}</thought>{GOOD}"),
    "mistral": Endpoint(
        1,
        {
            "unknown": refusal(
                422, {"object": "error", "message": {"detail": [{"type": "extra_forbidden"}]}}
            ),
        },
        completion(
            [{"type": "thinking", "thinking": [{"text": DRAFT}]}, {"type": "text", "text": GOOD}]
        ),
    ),
    "openrouter": Endpoint(
        2,
        {
            "a form": plain_error(
                "No endpoints found that can handle the requested parameters.", 404, code=404
            )
        },
        completion(GOOD, reasoning="I think so.", reasoning_details=[{"type": "reasoning.text"}]),
    ),
    "openrouter-as-success": Endpoint(
        3, {"a form": plain_error("json_schema is not supported by this provider", 200, code=400)}
    ),
    "openrouter-of-a-choice": Endpoint(
        3,
        {
            "a form": refusal(
                200,
                {
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "error",
                            "message": {"role": "assistant", "content": ""},
                            "error": {
                                "code": 400,
                                "message": "json_schema is not supported by this provider",
                            },
                        }
                    ]
                },
            )
        },
    ),
    "ollama": Endpoint(1, {}, completion(GOOD, reasoning="The user wants …")),
    "ollama-thinking": Endpoint(1, {}, f"<think>\nPerhaps {DRAFT}?\n</think>\n\n{GOOD}"),
    "ollama-format": Endpoint(
        2,
        {
            "a schema": plain_error(
                'invalid format: expected "json" or a JSON schema', 500, type="api_error"
            )
        },
    ),
    "lm-studio": Endpoint(
        2,
        {
            "an object": refusal(
                400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}
            ),
            "additional": refusal(
                400, {"error": "Invalid schema: keyword additionalProperties is not supported"}
            ),
        },
        completion("", reasoning_content=GOOD),
    ),
    "vllm": Endpoint(
        2,
        {
            "a schema": refusal(
                400,
                {
                    "object": "error",
                    "type": "BadRequestError",
                    "param": None,
                    "code": 400,
                    "message": "The provided JSON schema contains features not supported by xgrammar.",
                },
            ),
            "no word": error(400, "'messages' must contain the word 'json' in some form"),
        },
        f"It gives a year, so …</think>{GOOD}",
    ),
    "vllm-old": Endpoint(
        2,
        {
            "a schema": refusal(
                400,
                {"object": "error", "message": str(PYDANTIC).replace("[", "(").replace("]", ")")},
            )
        },
    ),
    "vllm-guided": Endpoint(
        3,
        {
            "a form": refusal(
                400,
                {"object": "error", "message": "guided_json failed: Grammar error: unknown keys"},
            )
        },
        completion(GOOD, reasoning_content=DRAFT),
    ),
    "vllm-without-system": Endpoint(
        2, {"a role": refusal(400, {"message": "System role not supported", "code": 400})}
    ),
    "llama.cpp": Endpoint(
        2, {"a schema": plain_error("failed to parse grammar", 500, code=500, type="server_error")}
    ),
    "llama.cpp-conversion": Endpoint(
        2, {"additional": plain_error("JSON schema conversion failed:\nUnsupported")}
    ),
    "llama-cpp-python": Endpoint(
        2,
        {"a schema": plain_error(json.dumps(PYDANTIC), 500)},
        "{'reason': \"It's a\nyear\", 'label': 'Factual'}",
    ),
    "deepseek": Endpoint(
        2,
        {
            "a schema": plain_error(
                "This response_format type is unavailable now", type="invalid_request_error"
            ),
            "no word": plain_error(
                "Prompt must contain the word 'json' in some form to use 'response_format'"
            ),
        },
        f"Hm, {DRAFT}?\n</think>\n{GOOD}",
    ),
    "groq": Endpoint(
        2,
        {
            "a form": plain_error(
                "Failed to generate JSON. See 'failed_generation' for more details.",
                code="json_validate_failed",
                failed_generation="Its role, temperature",
            )
        },
    ),
    "groq-tools": Endpoint(
        2,
        {
            "a schema": plain_error(
                "Failed to call a function.", code="tool_use_failed", failed_generation="json"
            )
        },
    ),
    "groq-model": Endpoint(
        2, {"a schema": plain_error("This model does not support response format `json_schema`.")}
    ),
    "together": Endpoint(
        3, {"a form": plain_error("JSON mode is not supported for this model", param=None)}
    ),
    "perplexity": Endpoint(
        1,
        {
            "an object": plain_error(
                "At body -> response_format -> type: Input should be 'json_schema'", code=400
            )
        },
        completion(f"<think>{DRAFT}</think>{GOOD}", citations=["https://example.org"]),
    ),
    "cohere": Endpoint(
        2,
        {
            "additional": refusal(
                422, {"id": "x", "message": "invalid request: response_format.json_schema.strict"}
            )
        },
    ),
    "xai": Endpoint(
        2,
        {
            "temperature": refusal(
                400,
                {
                    "code": "Client specified an invalid argument",
                    "error": "Argument not supported on this model: temperature",
                },
            )
        },
        completion(GOOD, reasoning_content="Perhaps."),
    ),
    "a gateway's page": Endpoint(2, {"a form": (400, {"Content-Type": "text/html"}, PAGE)}),
    "one part at a time": Endpoint(
        3,
        {
            "temperature": plain_error("Unsupported value: 'temperature'"),
            "max_tokens": plain_error(
                "Unsupported parameter: max_tokens, use max_completion_tokens"
            ),
            "a system role": plain_error(
                "messages[0].role does not support system with this model"
            ),
            "a form": plain_error("response_format is not supported"),
        },
    ),
    "terse": Endpoint(
        2, {part: refusal(400, {"detail": "Bad Request"}) for part in ("a form", "temperature")}
    ),
}


@pytest.mark.parametrize("busy", [(), (429, 503)], ids=["", "busy"])
@pytest.mark.parametrize("name", ENDPOINTS)
def test_an_endpoint_is_learnt_in_three_requests_and_asked_once_afterwards(
    name: str, busy: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy server answers every other request with the request to come again."""
    monkeypatch.setattr("attribution.retry.FIRST_PAUSE", 0.001)
    endpoint, each = ENDPOINTS[name], 2 if busy else 1

    def respond(handler: Any) -> Answer:
        _, _, headers, sent = served.requests[-1]
        number = len(served.requests)
        if busy and number % 2:
            return error(busy[number // 2 % 2], retry_after="0")
        if (
            endpoint.api_key
            and {name.lower(): value for name, value in headers.items()}.get("api-key") != KEY
        ):
            words = "Access denied due to invalid subscription key or wrong API endpoint."
            return plain_error(words, 401, code="401")
        return endpoint(json.loads(sent))

    with http_server(respond) as served:
        chosen = llm_settings(served, llm_workers=4)
        for number, expected in ((0, endpoint.requests), (1, 1)):
            before = len(served.requests)
            reply = Llm(chosen).ask(Question(f"Sort {number}.", "sort.v1"), Judged)
            assert (
                reply.value.label == "factual"
                and len(served.requests) - before == expected * each <= 3 * each
            )
        learning._memory.cache_clear()  # as in another process
        before = len(served.requests)
        replies = Llm(chosen).map(
            [Question(f"Sort {n}.", "sort.v2") for n in range(1 if busy else 5)], Judged
        )
        assert {getattr(r, "value", r).label for r in replies} == {"factual"}
        assert len(served.requests) - before == len(replies) * each


def test_prompts_at_once_learn_once() -> None:
    with llm_server(ENDPOINTS["openai-developer"]) as served:
        replies = Llm(llm_settings(served, llm_workers=8)).map(
            [Question(str(n), "v") for n in range(8)], Judged
        )
    assert len(replies) == 8 and len(served.requests) == 1 + 8


def test_another_model_of_the_same_endpoint_is_learnt_for_itself() -> None:
    with llm_server(ENDPOINTS["openai-reasoning"]) as served:
        for model in ("one", "two"):
            Llm(llm_settings(served, openai_model=model)).ask(Question("Sort.", "v"), Judged)
    assert len(served.requests) == 4


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("openai", ""),
        (
            "openai-developer",
            " (its own temperature, max_completion_tokens, instructions as developer, room for reasoning)",
        ),
        ("vllm", " (JSON without a schema)"),
        ("openrouter", " (without structured output, its own temperature)"),
    ],
)
def test_the_test_of_a_connection_says_what_it_found(name: str, found: str) -> None:
    def script(body: Body) -> str | Answer:
        made = ENDPOINTS[name](body)
        return made if made[0] >= 400 else '{"ready": true}'

    with llm_server(script) as served:
        connection = check_connection(llm_settings(served))
    assert connection.ok and connection.message.endswith(f" s{found}.")


def test_a_strict_schema_requires_all_and_allows_nothing_else() -> None:
    made = json_schema(PassageVerdicts, strict=True)
    item = made["properties"]["verdicts"]["items"]
    assert item["additionalProperties"] is made[
        "additionalProperties"
    ] is False and "$ref" not in json.dumps(made)
    assert item["required"] == list(item["properties"]) and item["properties"]["confidence"] == {
        "type": "number"
    }
    assert "additionalProperties" not in json.dumps(json_schema(PassageVerdicts, strict=False))


def test_a_known_dialect_that_is_refused_is_learnt_anew(tmp_path: Any) -> None:
    with llm_server(ENDPOINTS["openai-reasoning"]) as served:
        chosen = llm_settings(served)
        known = learning.memory_of(chosen)
        known.dialect = Dialect("plain")
        Llm(chosen, Store.open(chosen.database_url)).ask(Question("Sort.", "v"), Judged)
    assert known.dialect == Dialect("plain", False, "max_completion_tokens", reasons=True)
