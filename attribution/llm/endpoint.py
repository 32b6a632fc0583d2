"""One request to a language model's endpoint: to that host alone, with that key alone, within a time and a size."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from pydantic import BaseModel, Field, SecretStr, ValidationError

from attribution.errors import LlmFailed
from attribution.settings import OPENAI, Settings

MOST_BYTES = 4_000_000  # of one reply
PASSING = {408, 409, 425, 429}  # and 5xx: worth another attempt
ADVICE = {
    401: "refuses the key: check OPENAI_API_KEY",
    403: "refuses this key for this model: check OPENAI_API_KEY and OPENAI_MODEL",
    404: "does not know the model or the path: check OPENAI_MODEL and OPENAI_BASE_URL (it usually ends in /v1)",
}
# everything else that the client library adds from the environment (organisation, custom headers) stays here
_SENT = {"host", "content-type", "content-length", "accept", "accept-encoding", "connection", "user-agent"}


class _Guarded(httpx2.BaseTransport):
    """Adds the key on the way out, so that no error, log or request object of the client library ever holds it.

    A request's read timeout is the wall clock of its whole reply: a server that drips cannot outlast it.
    """

    def __init__(self, key: SecretStr) -> None:
        self._key = key
        self._inner = httpx2.HTTPTransport(trust_env=False)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = [(name, value) for name, value in request.headers.multi_items() if name.lower() in _SENT]
        if secret := self._key.get_secret_value():
            headers.append(("Authorization", f"Bearer {secret}"))
        end = time.monotonic() + float((request.extensions.get("timeout") or {}).get("read") or 60.0)
        sent = httpx2.Request(
            request.method, request.url, headers=headers, stream=request.stream, extensions=request.extensions
        )
        reply = self._inner.handle_request(sent)
        assert isinstance(reply.stream, httpx2.SyncByteStream)
        return httpx2.Response(
            reply.status_code, headers=reply.headers, stream=_Bounded(reply.stream, end), extensions=reply.extensions
        )

    def close(self) -> None:
        self._inner.close()


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, end: float) -> None:
        self._stream, self._end = stream, end

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if time.monotonic() > self._end:
                raise httpx2.ReadTimeout("the time for the whole reply is over")
            if size > MOST_BYTES:
                raise httpx2.ReadError(f"the reply is longer than {MOST_BYTES:,} bytes")
            yield part

    def close(self) -> None:
        self._stream.close()


def open_client(key: SecretStr) -> httpx2.Client:
    """Follows no redirect and reads no proxy, certificate or password from the environment."""
    return httpx2.Client(transport=_Guarded(key), follow_redirects=False, trust_env=False)


class Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class Choice(BaseModel):
    message: Message
    finish_reason: str | None = None


class Tokens(BaseModel):
    prompt_tokens: int = Field(0, ge=0)
    completion_tokens: int = Field(0, ge=0)


class Completion(BaseModel):
    """What is read of a reply."""

    choices: list[Choice] = Field(min_length=1)
    usage: Tokens | None = None


class Passing(Exception):
    """A failure that may be over at the next attempt."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after  # seconds that the server asks to wait


class Refused(Exception):
    """The request is refused as it stands; perhaps for its response_format."""


class Dead(LlmFailed):
    """What no other prompt would fare better with: a refused key or connection, an unknown model."""


class Endpoint:
    """The chat completions of one model."""

    def __init__(self, settings: Settings) -> None:
        self.host = urlsplit(settings.openai_base_url).netloc
        self._settings = settings
        self._client = openai.OpenAI(
            api_key="added-on-the-way",  # by the transport, so that this library never holds the key
            base_url=settings.openai_base_url,
            max_retries=0,
            http_client=open_client(settings.openai_api_key),
        )

    def complete(self, system: str, user: str, schema: type[BaseModel] | None, seconds: float) -> Completion:
        """One request. Passing, Refused, Dead or LlmFailed, without the library's request in them."""
        form: dict[str, Any] = {}
        if schema is not None:
            shape = {"name": schema.__name__.strip("_").lower(), "schema": schema.model_json_schema(), "strict": True}
            form["response_format"] = {"type": "json_schema", "json_schema": shape}
        form["max_completion_tokens" if self._settings.openai_base_url == OPENAI else "max_tokens"] = (
            self._settings.llm_tokens
        )
        try:
            raw = self._client.chat.completions.with_raw_response.create(
                model=self._settings.openai_model,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                temperature=0,
                timeout=httpx2.Timeout(max(seconds, 0.01), connect=max(min(seconds, 10.0), 0.01)),
                **form,
            )
            return Completion.model_validate_json(raw.http_response.content)
        except openai.APITimeoutError:
            raise Passing(f"{self.host} did not reply within {seconds:.0f} s") from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, httpx2.ConnectError):
                raise Dead(f"{self.host} cannot be reached: is it running, and is OPENAI_BASE_URL right?") from None
            raise Passing(f"{self.host} broke the connection") from None
        except openai.APIStatusError as error:
            raise self._status(
                error.status_code, error.response.headers, f"{error.message} {error.response.text}"
            ) from None
        except (openai.OpenAIError, ValidationError):
            raise LlmFailed(
                f"{self.host} sends no chat completion that can be read: check that OPENAI_BASE_URL names an "
                "OpenAI-compatible endpoint"
            ) from None

    def _status(self, status: int, headers: Any, message: str) -> Exception:
        said = " ".join(self.scrubbed(message).split())[:200]
        if status < 400:
            return Dead(
                f"{self.host} redirects elsewhere, which is not followed: set OPENAI_BASE_URL to the new address"
            )
        if status == 429 and "insufficient_quota" in message:
            return Dead(f"{self.host}: the quota of this key is used up (HTTP 429)")
        if "response_format" in message:  # llama.cpp's Python server says so with HTTP 500
            return Refused(f"{self.host} refuses the form of the request (HTTP {status}): {said}")
        if status in PASSING or status >= 500 and status != 501:
            limit = "limits the number of requests" if status == 429 else "has a problem"
            return Passing(f"{self.host} {limit} (HTTP {status})", _retry_after(headers.get("retry-after", "")))
        if status in ADVICE:
            return Dead(f"{self.host} {ADVICE[status]} (HTTP {status})")
        return Refused(f"{self.host} refuses the request (HTTP {status}): {said}")

    def scrubbed(self, text: str) -> str:
        """A server's own words may repeat the key. (A placeholder of a few letters is no secret, but may be a word.)"""
        secret = self._settings.openai_api_key.get_secret_value()
        return text.replace(secret, "[key]") if len(secret) >= 8 else text


def _retry_after(value: str) -> float | None:
    """Seconds of a Retry-After header, which holds seconds or a date."""
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        try:
            then = email.utils.parsedate_to_datetime(value)
        except ValueError:
            return None
        return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
