"""One request to an OpenAI-compatible endpoint, with its key, within a time and size."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import httpcore2
import httpx2
from pydantic import BaseModel, Field, FiniteFloat, ValidationError, field_validator

from attribution.errors import FetchFailed, LlmFailed
from attribution.llm.replies import json_schema
from attribution.network import (
    AddressNotAllowed,
    Clock,
    NameNotResolved,
    Request,
    TooLarge,
    exchange,
    is_public,
    parsed,
    words_of,
)
from attribution.retry import Transient, retry_after
from attribution.settings import LISTED, Endpoint, Settings
from attribution.types import content_id

MAX_BYTES = 4_000_000  # of a completion, unpacked
MAX_VECTOR_BYTES = 16_000_000  # of a batch of embeddings
ERROR_BYTES = 64_000
CONNECT_SECONDS = 10.0
MOST_TOKENS = 10**9  # of one reply
TRANSIENT = (408, 409, 425, 429)  # and 5xx
OPTIONAL = {  # parts of a request that not every model accepts → words of refusals about them
    "response_format": ("response_format", "response format", "json", "schema", "grammar"),
    "temperature": ("temperature",),
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "system": ("role", "system message", "system prompt", "developer"),
}
WRONG_KEY = ("incorrect api key", "api key not valid", "invalid api key")  # with HTTP 400
REFUSED_CONTENT = ("content_filter", "content management policy")
ADVICE = {
    401: "does not accept the key: check the key",
    402: "has no credit left for this key",
    403: "does not accept this key for this model: check the key and the model",
    404: "does not know the model or the path: check the model and the address "
    "(it usually ends in /v1)",
}
Model = TypeVar("Model", bound=BaseModel)


class Message(BaseModel):
    """A reply: a text, or parts of which some are reasoning."""

    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        """The reply without the parts that are reasoning."""
        if not isinstance(self.content, list):
            return self.content or ""
        texts = []
        for part in self.content:
            is_text = part.get("type", "text") in ("text", "output_text")
            if is_text and not part.get("thought"):
                texts.append(str(part.get("text", "")))
        return "".join(texts)


class Choice(BaseModel):
    message: Message
    finish_reason: str | None = None


class Tokens(BaseModel):
    prompt_tokens: int = Field(0, ge=0, le=MOST_TOKENS)
    completion_tokens: int = Field(0, ge=0, le=MOST_TOKENS)


class Completion(BaseModel):
    """The parts of a chat completion that are read."""

    choices: list[Choice] = Field(min_length=1)
    usage: Tokens = Tokens()

    @property
    def is_truncated(self) -> bool:
        return (self.choices[0].finish_reason or "").lower() in ("length", "max_tokens")

    @property
    def is_starved(self) -> bool:
        """True if all tokens went into reasoning, so that there is no reply."""
        return self.is_truncated and not self.choices[0].message.text.strip()

    @field_validator("usage", mode="before")
    @classmethod
    def _ignore_invalid_counts(cls, usage: object) -> Tokens:
        try:
            return Tokens.model_validate(usage)
        except ValidationError:
            return Tokens()


class TextEmbedding(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class Embeddings(BaseModel):
    """The parts of an embeddings reply that are read."""

    data: list[TextEmbedding]


class RequestRefused(Exception):
    """The request is refused as it stands.

    Attributes:
        detail: What an error may show of the server's words.
        parameters: The optional parts that the server's words name; all if they name none.
    """

    def __init__(self, message: str, detail: str, parameters: frozenset[str]) -> None:
        super().__init__(message)
        self.detail = detail
        self.parameters = parameters


class Unanswered(LlmFailed):
    """A prompt to which no reply came."""


class EndpointFailed(Unanswered):
    """A failure that every other request would meet too."""


_CONNECTION_ERRORS = (
    FetchFailed,
    AddressNotAllowed,
    zlib.error,
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
)


class _RawReply(Protocol):
    """A reply of the openai package before it is parsed."""

    http_response: httpx2.Response


class _CheckedTransport(httpx2.BaseTransport):
    """Sends a request of the client library as one checked, bounded exchange.

    It adds the key on the way out, so that no error, log or request of the library holds it. A
    request's read timeout is the wall clock of its reply.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        seconds = float(request.extensions["timeout"]["read"])
        # no other header of the library, which may come from the environment, is sent
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        secret = self._endpoint.key.get_secret_value()
        if secret:
            headers["Authorization"] = f"Bearer {secret}"
        is_embedding = request.url.path.endswith("/embeddings")
        checked = Request(
            parsed(str(request.url)),
            headers,
            MAX_VECTOR_BYTES if is_embedding else MAX_BYTES,
            body=request.read(),
            error_bytes=ERROR_BYTES,
        )
        reply = exchange(
            checked,
            is_public if self._endpoint.of_visitor else lambda _: True,
            Clock(seconds),
            (min(seconds, CONNECT_SECONDS), seconds),
        )
        pause = {"retry-after": reply.headers.get("retry-after", "")}
        return httpx2.Response(reply.status, headers=pause, content=reply.content, request=request)


@dataclass
class Unsupported:
    """The optional parts that a model at an endpoint refused so far."""

    key: str
    parameters: frozenset[str] = frozenset()


_unsupported = lru_cache(256)(Unsupported)


class EndpointClient:
    """Chat completions and embeddings, one request at a time; redirects are not followed.

    Requests raise Transient, RequestRefused, EndpointFailed or LlmFailed, none of which holds the
    key.
    """

    def __init__(self, settings: Settings) -> None:
        import openai  # takes half a second, which no page should wait for

        self.host = urlsplit(settings.endpoint.address).netloc
        self._settings = settings
        self._endpoint = settings.endpoint
        self._unsupported = _unsupported(
            content_id(settings.endpoint.identity, settings.openai_model)
        )
        self._client = openai.OpenAI(
            api_key="added-by-the-transport",
            base_url=settings.endpoint.address,
            max_retries=0,
            http_client=httpx2.Client(
                transport=_CheckedTransport(settings.endpoint),
                follow_redirects=False,
                trust_env=False,
            ),
        )

    @property
    def unsupported(self) -> frozenset[str]:
        """The optional parts of a request that the model refused."""
        return self._unsupported.parameters

    def complete(
        self,
        system: str,
        user: str,
        schema: type[BaseModel] | None,
        seconds: float,
        temperature: float,
    ) -> Completion:
        """Return the model's reply to one prompt.

        Parts that the model refuses are left out of a further request, and of all later ones.

        Args:
            system: The instructions; empty for none.
            user: The prompt.
            schema: The form of the reply; None for words.
            seconds: The wall clock of all requests together.
            temperature: How freely the model words its reply.
        """
        end = time.monotonic() + seconds
        omitted = self._unsupported.parameters
        while True:
            body = self._body(system, user, schema, temperature, omitted)
            try:
                completion = self._request(
                    self._client.chat.completions.with_raw_response.create,
                    Completion,
                    end - time.monotonic(),
                    model=self._settings.openai_model,
                    **body,
                )
            except RequestRefused as error:
                if error.parameters <= omitted:
                    raise
                omitted |= error.parameters
                continue
            if completion.is_starved and "max_tokens" not in omitted:
                omitted |= {"max_tokens"}
                continue
            self._unsupported.parameters = omitted
            return completion

    def _body(
        self,
        system: str,
        user: str,
        schema: type[BaseModel] | None,
        temperature: float,
        omitted: frozenset[str],
    ) -> dict[str, Any]:
        if system and "system" in omitted:
            user = f"{system}\n\n{user}"
        messages = [{"role": "user", "content": user}]
        if system and "system" not in omitted:
            messages.insert(0, {"role": "system", "content": system})
        body: dict[str, Any] = {"messages": messages}
        if "temperature" not in omitted:
            body["temperature"] = temperature
        if "max_tokens" not in omitted:
            body["max_tokens"] = self._settings.llm_tokens
        if schema and "response_format" not in omitted:
            name = schema.__name__.strip("_").lower()
            form = {"name": name, "schema": json_schema(schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def embed(self, model: str, texts: Sequence[str], seconds: float) -> list[list[float]]:
        """Return one vector for each text, in order."""
        reply = self._request(
            self._client.embeddings.with_raw_response.create,
            Embeddings,
            seconds,
            model=model,
            input=list(texts),
            encoding_format="float",
        )
        vectors = {item.index: item.embedding for item in reply.data}
        lengths = {len(vector) for vector in vectors.values()}
        if set(vectors) != set(range(len(texts))) or len(lengths) != 1:
            raise self._unreadable()
        return [vectors[number] for number in range(len(texts))]

    def _request(
        self, create: Callable[..., _RawReply], form: type[Model], seconds: float, **body: object
    ) -> Model:
        import openai

        try:
            content = create(timeout=max(seconds, 0.01), **body).http_response.content
            status = _error_status(content)
            if status:
                raise self._refusal(httpx2.Response(status, content=content))
            return form.model_validate_json(content)
        except TooLarge:
            limit = MAX_VECTOR_BYTES if form is Embeddings else MAX_BYTES
            raise LlmFailed(
                f"{self.host} sends a reply of more than {limit:,} bytes: lower llm_tokens"
            ) from None
        except _CONNECTION_ERRORS as error:
            raise self._connection_failure(error, seconds) from None
        except openai.APIConnectionError as error:
            raise self._connection_failure(error.__cause__ or error, seconds) from None
        except openai.APIStatusError as error:
            raise self._refusal(error.response) from None
        except (openai.OpenAIError, ValidationError):
            raise self._unreadable() from None

    def _connection_failure(self, error: BaseException, seconds: float) -> Exception:
        """Return the failure for what the transport raised."""
        match error:
            case FetchFailed():
                return EndpointFailed(f"the address of the language model: {error}")
            case AddressNotAllowed():
                return self._not_public()
            case zlib.error():
                return self._unreadable()
            case httpcore2.TimeoutException():
                return Transient(f"{self.host} did not reply within {seconds:.0f} s")
            case NameNotResolved() if self._endpoint.of_visitor:
                return self._not_public()
            case httpcore2.ConnectError():
                return EndpointFailed(
                    f"{self.host} cannot be reached: check that it is running and that the "
                    "address is right",
                    self.quoted(words_of(error)),
                )
            case httpcore2.NetworkError() | httpcore2.ProtocolError():
                detail = self.quoted(words_of(error))
                return Transient(f"{self.host} closed the connection", detail=detail)
        return LlmFailed(f"{self.host} cannot be asked ({type(error).__name__}): check the address")

    def _not_public(self) -> EndpointFailed:
        """One message for all that is not public: it shows nothing of this server's network."""
        return EndpointFailed(
            f"{self.host} has no public address, so it cannot be chosen on a page: whoever runs "
            f"this server can allow it with {LISTED}={self._endpoint.address} in the environment "
            "(docs/llm.md)"
        )

    def _unreadable(self) -> LlmFailed:
        return LlmFailed(
            f"{self.host} sends a reply that cannot be read: check that the address is an "
            "OpenAI-compatible endpoint"
        )

    def _refusal(self, reply: httpx2.Response) -> Exception:
        """Return the failure for a reply that is an error."""
        status = reply.status_code
        text = reply.content.decode("utf-8", "replace")
        if text.lstrip().startswith("<"):  # a gateway's page
            text = ""
        words = text.lower()
        detail = self.quoted(text)
        if status < 400:
            message = f"{self.host} redirects, which is not followed: check the address"
            return EndpointFailed(message, detail)
        if status == 429 and "insufficient_quota" in words:
            message = f"{self.host}: the quota of this key is used up (HTTP 429)"
            return EndpointFailed(message, detail)
        if status == 400 and any(part in words for part in REFUSED_CONTENT):
            return LlmFailed("the language model refused: content filter", detail=detail)
        if status == 400 and any(part in words for part in WRONG_KEY):
            return EndpointFailed(f"{self.host} {ADVICE[401]} (HTTP 400)", detail)
        parameters = frozenset(
            name for name, marks in OPTIONAL.items() if any(mark in words for mark in marks)
        )
        # llama.cpp refuses parameters with HTTP 500, OpenRouter with 404
        is_about_parameters = parameters and (status >= 500 or status == 404)
        if status in ADVICE and not is_about_parameters:
            advice = ADVICE[status]
            if status == 401 and not self._endpoint.key.get_secret_value():
                advice = "asks for a key, and none was given with this address: give the key, too"
            return EndpointFailed(f"{self.host} {advice} (HTTP {status})", detail)
        is_transient = status in TRANSIENT or status >= 500
        if is_transient and not is_about_parameters:
            problem = "limits the number of requests" if status == 429 else "has a problem"
            pause = retry_after(reply.headers.get("retry-after", ""))
            return Transient(f"{self.host} {problem} (HTTP {status})", pause, detail)
        return RequestRefused(
            f"{self.host} does not accept the request (HTTP {status})",
            detail,
            parameters or frozenset(OPTIONAL),
        )

    def scrubbed(self, text: str) -> str:
        """Return a server's words without the key; a short placeholder is no secret."""
        secret = self._endpoint.key.get_secret_value()
        return text.replace(secret, "[key]") if len(secret) >= 8 else text

    def quoted(self, text: str) -> str:
        """Return the start of a server's words for an error.

        Empty for a visitor's endpoint: it may be a server that only this one can reach.
        """
        return "" if self._endpoint.of_visitor else " ".join(self.scrubbed(text).split())[:200]


def _error_status(content: bytes) -> int:
    """Return the status of an error that a gateway sends as a success; 0 for a reply."""
    try:
        body = json.loads(content)
        error = body.get("error") or body["choices"][0].get("error")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return 0
    if not error:
        return 0
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 400
