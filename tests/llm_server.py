"""A local endpoint of a language model with scripted replies."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from pydantic import SecretStr

from attribution.settings import Endpoint, Settings
from tests.servers import Answer, Served, http_server

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
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


def error(status: int, message: str = "no", **headers: str) -> Answer:
    body = json.dumps({"error": {"message": message, "type": "t", "code": "c"}}).encode()
    return (
        status,
        {
            "Content-Type": "application/json",
            **{k.replace("_", "-"): v for k, v in headers.items()},
        },
        body,
    )


def claims(*texts: str) -> str:
    return json.dumps({"claims": texts})


@contextlib.contextmanager
def llm_server(script: Script, port: int = 0) -> Iterator[Served]:
    """Serves one prompt at a time; the script sees the body of the latest request."""

    def respond(handler: BaseHTTPRequestHandler) -> Answer:
        made = script(json.loads(served.requests[-1][3]))
        return completion(made) if isinstance(made, str) else made

    with http_server(respond, port=port) as served:
        yield served


def asked(body: dict[str, Any]) -> str:
    """The text that a prompt is about: its last <data>."""
    return re.findall(r"<data>\n(.*?)\n</data>", body["messages"][-1]["content"], re.DOTALL)[-1]


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
