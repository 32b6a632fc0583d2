"""A local endpoint of a language model with scripted replies."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from pydantic import SecretStr

from attribution.settings import Endpoint, Settings
from tests.servers import Answer, Served, http_server, json_answer

KEY = "sk-test-0123456789-secret"
READY = '{"ready": true}'  # what a test of the connection asks for
Script = Callable[
    [dict[str, Any]], str | Answer
]  # the request's body → the reply's text, or a whole answer


def completion(text: str | None, finish: str = "stop", **message: Any) -> Answer:
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }
    return json_answer(body)


def error(status: int, message: str = "no", **headers: str) -> Answer:
    body = {"error": {"message": message, "type": "t", "code": "c"}}
    return json_answer(body, status, **{k.replace("_", "-"): v for k, v in headers.items()})


def claims(*texts: str) -> str:
    return json.dumps({"claims": texts})


@contextlib.contextmanager
def llm_server(script: Script) -> Iterator[Served]:
    """Serves one prompt at a time; the script sees the body of the latest request."""

    def respond(handler: BaseHTTPRequestHandler) -> Answer:
        made = script(json.loads(served.requests[-1][3]))
        return completion(made) if isinstance(made, str) else made

    with http_server(respond) as served:
        yield served


def prompt_of(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def prompts_sent(served: Served) -> list[str]:
    return [prompt_of(json.loads(body)) for _, _, _, body in served.requests]


def asked(body: dict[str, Any]) -> str:
    """The text that a prompt is about: its last <data>."""
    return str(re.findall(r"<data>\n(.*?)\n</data>", prompt_of(body), re.DOTALL)[-1])


def keys_sent(served: Served) -> list[str]:
    """The Authorization of each request that reached a server; empty where it had none."""
    headers = [
        {name.lower(): value for name, value in sent.items()} for _, _, sent, _ in served.requests
    ]
    return [sent.get("authorization", "") for sent in headers]


def llm_settings(served: Served | str, **choices: Any) -> Settings:
    url = served if isinstance(served, str) else served.url("/v1")
    defaults = {"openai_model": "tiny", "llm_workers": 1, "llm_timeout": 5, "llm_deadline": 10}
    return Settings.from_environment(
        **{"endpoint": Endpoint(url, SecretStr(KEY)), **defaults, **choices}
    )
