"""One request to an OpenAI-compatible endpoint: to that host alone, with that key alone, within a time and a size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import httpx2
import openai
from pydantic import BaseModel, Field, FiniteFloat, SecretStr, ValidationError

from attribution.endpoint import OPENAI
from attribution.errors import LlmFailed
from attribution.retry import Transient, retry_after
from attribution.settings import Settings

MAX_BYTES = 4_000_000  # of one reply
CONNECT_SECONDS = 10.0
TRANSIENT = {408, 409, 425, 429}  # and 5xx
FormField = Literal["", "address", "model", "key"]  # of the form
ADVICE: dict[int, tuple[FormField, str]] = {
    401: ("key", "does not accept the key: check the key"),
    403: ("key", "does not accept this key for this model: check the key and the model"),
    404: ("model", "does not know the model or the path: check the model and the address (it usually ends in /v1)"),
}
# everything else that the client library adds from the environment (organisation, custom headers) is dropped
_SENT = {"host", "content-type", "content-length", "accept", "accept-encoding", "connection", "user-agent"}
Model = TypeVar("Model", bound=BaseModel)


class _GuardedTransport(httpx2.BaseTransport):
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
            reply.status_code,
            headers=reply.headers,
            stream=_BoundedStream(reply.stream, end),
            extensions=reply.extensions,
        )

    def close(self) -> None:
        self._inner.close()


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, end: float) -> None:
        self._stream, self._end = stream, end

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if time.monotonic() > self._end:
                raise httpx2.ReadTimeout("the time for the whole reply is over")
            if size > MAX_BYTES:
                raise httpx2.ReadError(f"the reply is longer than {MAX_BYTES:,} bytes")
            yield part

    def close(self) -> None:
        self._stream.close()


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
    """The parts of a chat completion that are read."""

    choices: list[Choice] = Field(min_length=1)
    usage: Tokens | None = None


class Embedding(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class Embeddings(BaseModel):
    """The parts of an embeddings reply that are read."""

    data: list[Embedding]


class RequestRefused(Exception):
    """The request is refused as it stands; perhaps for its response_format. `detail` is the server's reason."""

    def __init__(self, message: str, detail: str) -> None:
        super().__init__(message)
        self.detail = detail


class EndpointFailed(LlmFailed):
    """A failure that every other request would meet too; `field` of the form is the one to check first."""

    def __init__(self, message: str, field: FormField, detail: object = "") -> None:
        super().__init__(message, detail=detail)
        self.field = field


class EndpointClient:
    """Chat completions and embeddings, one request at a time.

    Requests raise Transient, RequestRefused, EndpointFailed or LlmFailed, none of which holds the key.
    """

    def __init__(self, settings: Settings) -> None:
        self.host = urlsplit(settings.endpoint.address).netloc
        self._settings = settings
        self._client = openai.OpenAI(
            api_key="added-by-the-transport",  # so that this library never holds the key
            base_url=settings.endpoint.address,
            max_retries=0,
            # follows no redirect and reads no proxy, certificate or password from the environment
            http_client=httpx2.Client(
                transport=_GuardedTransport(settings.endpoint.key), follow_redirects=False, trust_env=False
            ),
        )

    def complete(
        self, system: str, user: str, schema: type[BaseModel] | None, seconds: float, temperature: float = 0.0
    ) -> Completion:
        """The model's reply to one prompt, in the form of a schema where one is given."""
        form: dict[str, Any] = {}
        if schema is not None:
            shape = {"name": schema.__name__.strip("_").lower(), "schema": schema.model_json_schema(), "strict": True}
            form["response_format"] = {"type": "json_schema", "json_schema": shape}
        form["max_completion_tokens" if self._settings.endpoint.address == OPENAI else "max_tokens"] = (
            self._settings.llm_tokens
        )
        return self._request(
            self._client.chat.completions.with_raw_response.create,
            Completion,
            seconds,
            model=self._settings.openai_model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
            temperature=temperature,
            **form,
        )

    def embed(self, model: str, texts: Sequence[str], seconds: float) -> list[list[float]]:
        """One vector for each text, in order."""
        create = self._client.embeddings.with_raw_response.create
        reply = self._request(create, Embeddings, seconds, model=model, input=list(texts), encoding_format="float")
        vectors = {item.index: item.embedding for item in reply.data}
        if set(vectors) != set(range(len(texts))) or len({len(vector) for vector in vectors.values()}) != 1:
            raise self._unreadable()
        return [vectors[number] for number in range(len(texts))]

    def _request(self, create: Callable[..., Any], form: type[Model], seconds: float, **body: Any) -> Model:
        timeout = httpx2.Timeout(max(seconds, 0.01), connect=max(min(seconds, CONNECT_SECONDS), 0.01))
        try:
            raw = create(timeout=timeout, **body)
            return form.model_validate_json(raw.http_response.content)
        except openai.APITimeoutError:
            raise Transient(f"{self.host} did not reply within {seconds:.0f} s") from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, httpx2.ConnectError):
                message = f"{self.host} cannot be reached: check that it is running and that the address is right"
                raise EndpointFailed(message, "address", repr(error.__cause__)) from None
            raise Transient(f"{self.host} closed the connection", detail=repr(error.__cause__)) from None
        except openai.APIStatusError as error:
            said = f"{error.message} {error.response.text}"
            raise self._status(error.status_code, error.response.headers.get("retry-after", ""), said) from None
        except (openai.OpenAIError, ValidationError):
            raise self._unreadable() from None

    def _unreadable(self) -> LlmFailed:
        problem = "sends a reply that cannot be read: check that the address is an OpenAI-compatible endpoint"
        return LlmFailed(f"{self.host} {problem}")

    def _status(self, status: int, wait: str, message: str) -> Exception:
        said = " ".join(self.scrubbed(message).split())[:200]
        if status < 400:
            return EndpointFailed(f"{self.host} redirects, which is not followed: check the address", "address", said)
        if status == 429 and "insufficient_quota" in message:
            return EndpointFailed(f"{self.host}: the quota of this key is used up (HTTP 429)", "key", said)
        if "response_format" in message:  # llama.cpp's Python server says so with HTTP 500
            return RequestRefused(f"{self.host} does not accept the form of the request (HTTP {status})", said)
        if status in TRANSIENT or status >= 500 and status != 501:
            problem = "limits the number of requests" if status == 429 else "has a problem"
            return Transient(f"{self.host} {problem} (HTTP {status})", retry_after(wait), said)
        if status in ADVICE:
            field, advice = ADVICE[status]
            if status == 401 and not self._settings.endpoint.key.get_secret_value():
                advice = "asks for a key, and none was given with this address: give the key beside it"
            return EndpointFailed(f"{self.host} {advice} (HTTP {status})", field, said)
        return RequestRefused(f"{self.host} does not accept the request (HTTP {status})", said)

    def scrubbed(self, text: str) -> str:
        """A server's own words without the key. (A placeholder of a few letters is no secret, but may be a word.)"""
        secret = self._settings.endpoint.key.get_secret_value()
        return text.replace(secret, "[key]") if len(secret) >= 8 else text
