"""A test of the connection to a language model, in the words of the form: address, model, key."""

from __future__ import annotations

import time
from dataclasses import dataclass

from pydantic import BaseModel

from attribution.errors import LlmFailed
from attribution.llm.endpoint import EndpointClient, EndpointFailed, FormField, RequestRefused
from attribution.llm.parsing import ReplyError, parse
from attribution.retry import Transient
from attribution.settings import Settings

SECONDS = 20.0
SYSTEM, PROMPT = "Reply in the form that is asked for.", 'Reply with the JSON object {"ready": true}.'


class _Ready(BaseModel):
    ready: bool


@dataclass(frozen=True)
class Connection:
    """What a test request showed."""

    ok: bool
    message: str
    field: FormField = ""  # the one to check first
    detail: str = ""  # in the server's words, without the key
    structured: bool = False  # replies follow a JSON schema
    seconds: float = 0.0


def check_connection(settings: Settings) -> Connection:
    """Send one short prompt, and again without a JSON schema where the server does not take one; nothing is cached."""
    if not settings.openai_model:
        return Connection(False, "No model: enter the model's name.", "model")
    if not settings.has_endpoint:
        return Connection(False, "No key: enter one, or the address of a server that needs none.", "key")
    endpoint, started = EndpointClient(settings), time.monotonic()
    try:
        try:
            completion, structured = endpoint.complete(SYSTEM, PROMPT, _Ready, SECONDS), True
        except RequestRefused:
            completion, structured = endpoint.complete(SYSTEM, PROMPT, None, SECONDS), False
        parse(completion.choices[0].message.content or "", _Ready)
    except EndpointFailed as error:
        return Connection(False, _sentence(error), error.field, error.detail)
    except LlmFailed as error:
        return Connection(False, _sentence(error), "address", error.detail)
    except (Transient, RequestRefused) as error:
        return Connection(False, _sentence(error), detail=str(error.detail))
    except ReplyError as error:
        message = f"{endpoint.host} replied, but not as JSON: another model may follow the form."
        return Connection(False, message, "model", endpoint.quoted(str(error)) or error.unquoted)
    seconds = time.monotonic() - started
    form = "" if structured else ", without structured output"
    message = f"Connected: {settings.openai_model} at {endpoint.host} replied in {seconds:.1f} s{form}."
    return Connection(True, message, structured=structured, seconds=seconds)


def _sentence(error: Exception) -> str:
    text = str(error)
    return text if text.endswith(".") else f"{text}."
