"""One request to an OpenAI-compatible endpoint: to that host alone, with that key alone, within a
time and a size.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

import httpcore2
import httpx2
from pydantic import (
    BaseModel,
    Field,
    FiniteFloat,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from attribution.errors import FetchFailed, LlmFailed
from attribution.fetching.http import TooLarge, exchange, parsed, words_of
from attribution.fetching.network import AddressNotAllowed, Clock, NameNotResolved, is_public
from attribution.llm.dialect import Dialect
from attribution.retry import Transient, retry_after
from attribution.settings import LISTED, Endpoint, Settings

MAX_BYTES = 4_000_000  # of a completion, unpacked
MAX_VECTOR_BYTES = 16_000_000  # of a batch of embeddings
ERROR_BYTES = 64_000
CONNECT_SECONDS = 10.0
TRANSIENT = {408, 409, 425, 429}  # and 5xx
FormField = Literal["", "address", "model", "key"]  # of the form
WRONG_KEY_NAME = ("api-key", "subscription key")  # in a refusal of the key: Azure's words
WRONG_KEY = (
    "incorrect api key",
    "api key not valid",
    "invalid api key",
)  # xAI's and Gemini's words, with HTTP 400
MISFITS = {
    400,
    404,
    405,
    415,
    422,
    500,
    501,
}  # with these a request may be refused for what it asks
ABOUT_THE_REQUEST = (  # words of a refusal that is none of the model's name or of the server itself
    "response_format",
    "response format",
    "json_schema",
    "json_object",
    "invalid format",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "requested parameters",
    "structured output",
    "grammar",
    "'role'",
    "role '",
    ".role",
    "system message",
)
ADVICE: dict[int, tuple[FormField, str]] = {
    401: ("key", "does not accept the key: check the key"),
    402: ("key", "has no credit left for this key"),
    403: ("key", "does not accept this key for this model: check the key and the model"),
    404: (
        "model",
        "does not know the model or the path: check the model and the address (it usually ends in /v1)",
    ),
}
Model = TypeVar("Model", bound=BaseModel)


class MessagePart(BaseModel):
    """A part of a message; those of the reasoning have another type, are marked as thought, or hold
    no text.
    """

    type: str = "text"
    text: str = ""
    thought: bool = False

    @property
    def shown(self) -> str:
        return self.text if self.type in ("text", "output_text") and not self.thought else ""

    @field_validator("text", mode="before")
    @classmethod
    def _only_text(cls, found: object) -> object:
        return found if isinstance(found, str) else ""


class Message(BaseModel):
    content: str | list[MessagePart | str] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None

    @property
    def own_text(self) -> str:
        parts = [self.content] if isinstance(self.content, str) else self.content or []
        return "".join(p if isinstance(p, str) else p.shown for p in parts)

    @property
    def text(self) -> str:
        """The reply without reasoning, or, where there is none, what some servers put there instead
        of the reply.
        """
        return self.own_text or self.reasoning_content or self.reasoning or ""

    @field_validator("reasoning_content", "reasoning", mode="before")
    @classmethod
    def _only_text(cls, found: object) -> object:
        return found if isinstance(found, str) else None


class Choice(BaseModel):
    message: Message
    finish_reason: str | None = None


MOST_TOKENS = 10**9  # of one reply


class Tokens(BaseModel):
    prompt_tokens: int = Field(0, ge=0, le=MOST_TOKENS)
    completion_tokens: int = Field(0, ge=0, le=MOST_TOKENS)


class Completion(BaseModel):
    """The parts of a chat completion that are read."""

    choices: list[Choice] = Field(min_length=1)
    usage: Tokens | None = None

    @property
    def truncated(self) -> bool:
        return (self.choices[0].finish_reason or "").lower() in ("length", "max_tokens")

    @property
    def starved(self) -> bool:
        """True if all tokens went into reasoning, so that there is no reply."""
        message = self.choices[0].message
        return self.truncated and not message.refusal and not message.own_text.strip()

    @field_validator("usage", mode="wrap")
    @classmethod
    def _only_counts(cls, found: object, read: ValidatorFunctionWrapHandler) -> Tokens | None:
        """Ignore figures that are none: they are no reason to lose a reply."""
        try:
            tokens: Tokens | None = read(found)
        except ValidationError:
            return None
        return tokens


class TextEmbedding(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class Embeddings(BaseModel):
    """The parts of an embeddings reply that are read."""

    data: list[TextEmbedding]


class RequestRefused(Exception):
    """The request is refused as it stands; `words` are the server's, `detail` what an error may
    show of them.
    """

    def __init__(self, message: str, detail: str, words: str = "") -> None:
        super().__init__(message)
        self.detail, self.words = detail, words


class EndpointFailed(LlmFailed):
    """A failure that every other request would meet too; `field` of the form is the one to check
    first.
    """

    def __init__(self, message: str, field: FormField, detail: object = "") -> None:
        super().__init__(message, detail=detail)
        self.field = field


class KeyRefused(EndpointFailed):
    """The key is not accepted under the name that it was sent with, perhaps under another."""


_UNCONNECTED = (  # what an exchange raises
    FetchFailed,
    AddressNotAllowed,
    zlib.error,
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
)


def _error_of(content: bytes) -> int:
    """The status of an error that a gateway sends as a success; 0 for a reply."""
    try:
        body: Any = json.loads(content)
        choices = body.get("choices")
        found = choices[0]["error"] if choices else None if body.get("data") else body["error"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return 0
    code = found.get("code") if isinstance(found, dict) else 0
    return 0 if not found else code if isinstance(code, int) and 400 <= code < 600 else 400


class _Raw(Protocol):
    """A reply of the openai package that is not parsed yet."""

    http_response: httpx2.Response


class _CheckedTransport(httpx2.BaseTransport):
    """Sends what the client library asks for as one checked, bounded exchange, and adds the key on
    the way out.

    No error, log or request of the library holds the key. A request's read timeout is the wall
    clock of its reply.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        seconds = float(request.extensions["timeout"]["read"])
        # nothing else that the library adds, also from the environment, is sent
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if secret := self._endpoint.key.get_secret_value():
            headers["Authorization"] = f"Bearer {secret}"
            if "api-key" in request.headers:
                headers["api-key"] = secret
        reply = exchange(
            parsed(str(request.url)),
            is_public if self._endpoint.of_visitor else lambda _: True,
            Clock(seconds),
            (min(seconds, CONNECT_SECONDS), seconds),
            headers=headers,
            limit=MAX_VECTOR_BYTES if request.url.path.endswith("/embeddings") else MAX_BYTES,
            body=request.read(),
            error_bytes=ERROR_BYTES,
        )
        forwarded = {
            name: reply.headers[name]
            for name in ("content-type", "retry-after")
            if name in reply.headers
        }
        return httpx2.Response(
            reply.status, headers=forwarded, content=reply.content, request=request
        )


class EndpointClient:
    """Chat completions and embeddings, one request at a time; redirects are not followed.

    Requests raise Transient, RequestRefused, EndpointFailed or LlmFailed, none of which holds the
    key.
    """

    def __init__(self, settings: Settings) -> None:
        import openai  # here, since it takes half a second, which no page is to wait for

        self.host = urlsplit(settings.endpoint.address).netloc
        self._settings, self._endpoint = settings, settings.endpoint
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

    def complete(
        self,
        system: str,
        user: str,
        schema: type[BaseModel],
        seconds: float,
        temperature: float,
        dialect: Dialect,
    ) -> Completion:
        """The model's reply to one prompt, asked for in a dialect; RequestRefused where the
        endpoint has another.
        """
        body = dialect.body(system, user, schema, temperature, self._settings.llm_tokens)
        return self._request(
            self._client.chat.completions.with_raw_response.create,
            Completion,
            seconds,
            model=self._settings.openai_model,
            extra_headers={"api-key": ""} if dialect.api_key else None,
            **body,
        )

    def embed(self, model: str, texts: Sequence[str], seconds: float) -> list[list[float]]:
        """One vector for each text, in order."""
        create = self._client.embeddings.with_raw_response.create
        reply = self._request(
            create, Embeddings, seconds, model=model, input=list(texts), encoding_format="float"
        )
        vectors = {item.index: item.embedding for item in reply.data}
        if (
            set(vectors) != set(range(len(texts)))
            or len({len(vector) for vector in vectors.values()}) != 1
        ):
            raise self._unreadable()
        return [vectors[number] for number in range(len(texts))]

    def _request(
        self, create: Callable[..., _Raw], form: type[Model], seconds: float, **body: object
    ) -> Model:
        import openai

        try:
            raw = create(timeout=max(seconds, 0.01), **body)
            if refused := _error_of(raw.http_response.content):
                raise self._refusal(httpx2.Response(refused, content=raw.http_response.content))
            return form.model_validate_json(raw.http_response.content)
        except TooLarge:
            limit = MAX_VECTOR_BYTES if form is Embeddings else MAX_BYTES
            raise LlmFailed(
                f"{self.host} sends a reply of more than {limit:,} bytes: lower llm_tokens"
            ) from None
        except _UNCONNECTED as error:
            raise self._unconnected(error, seconds) from None
        except openai.APIConnectionError as error:
            raise self._unconnected(error.__cause__ or error, seconds) from None
        except openai.APIStatusError as error:
            raise self._refusal(error.response) from None
        except (openai.OpenAIError, ValidationError):
            raise self._unreadable() from None

    def _unconnected(self, error: BaseException, seconds: float) -> Exception:
        """The failure for what the transport raised."""
        match error:
            case FetchFailed():
                return EndpointFailed(f"the address of the language model: {error}", "address")
            case AddressNotAllowed():
                return self._not_public()
            case zlib.error():
                return self._unreadable()
            case httpcore2.TimeoutException():
                return Transient(f"{self.host} did not reply within {seconds:.0f} s")
            case NameNotResolved() if self._endpoint.of_visitor:
                return self._not_public()
            case httpcore2.ConnectError():
                message = f"{self.host} cannot be reached: check that it is running and that the address is right"
                return EndpointFailed(message, "address", self.quoted(words_of(error)))
            case httpcore2.NetworkError() | httpcore2.ProtocolError():
                return Transient(
                    f"{self.host} closed the connection", detail=self.quoted(words_of(error))
                )
        return LlmFailed(f"{self.host} cannot be asked ({type(error).__name__}): check the address")

    def _not_public(self) -> EndpointFailed:
        """One message for all that is not public, so that it shows nothing of the network that this
        server is in.
        """
        message = (
            f"{self.host} has no public address, so it cannot be chosen on a page: whoever runs this server can allow "
            f"it with {LISTED}={self._endpoint.address} in the environment (docs/llm.md)"
        )
        return EndpointFailed(message, "address")

    def _unreadable(self) -> LlmFailed:
        problem = "sends a reply that cannot be read: check that the address is an OpenAI-compatible endpoint"
        return LlmFailed(f"{self.host} {problem}")

    def _refusal(self, reply: httpx2.Response) -> Exception:
        status, text = reply.status_code, reply.content.decode("utf-8", "replace")
        text = "" if text.lstrip().startswith("<") else text  # a gateway's page
        words, body_quote = text.lower(), self.quoted(text)
        if status < 400:
            return EndpointFailed(
                f"{self.host} redirects, which is not followed: check the address",
                "address",
                body_quote,
            )
        if status == 429 and "insufficient_quota" in text:
            return EndpointFailed(
                f"{self.host}: the quota of this key is used up (HTTP 429)", "key", body_quote
            )
        if status == 400 and ("content_filter" in words or "content management policy" in words):
            return LlmFailed("the language model refused: content filter", detail=body_quote)
        if status == 400 and any(part in words for part in WRONG_KEY):
            return EndpointFailed(f"{self.host} {ADVICE[401][1]} (HTTP 400)", "key", body_quote)
        named = status in MISFITS and any(part in words for part in ABOUT_THE_REQUEST)
        if (
            status in (400, 405, 415, 422, 501) or named
        ):  # llama.cpp's Python server has 500, OpenRouter 404
            what = "the form of the request" if "response_format" in words else "the request"
            return RequestRefused(
                f"{self.host} does not accept {what} (HTTP {status})", body_quote, text
            )
        if status in TRANSIENT or status >= 500:
            problem = "limits the number of requests" if status == 429 else "has a problem"
            after = retry_after(reply.headers.get("retry-after", ""))
            return Transient(f"{self.host} {problem} (HTTP {status})", after, body_quote)
        if (
            status == 401
            and self._endpoint.key.get_secret_value()
            and any(name in words for name in WRONG_KEY_NAME)
        ):
            return KeyRefused(f"{self.host} {ADVICE[401][1]} (HTTP 401)", "key", body_quote)
        if status in ADVICE:
            field, advice = ADVICE[status]
            if status == 401 and not self._endpoint.key.get_secret_value():
                advice = (
                    "asks for a key, and none was given with this address: give the key beside it"
                )
            return EndpointFailed(f"{self.host} {advice} (HTTP {status})", field, body_quote)
        return RequestRefused(
            f"{self.host} does not accept the request (HTTP {status})", body_quote, text
        )

    def scrubbed(self, text: str) -> str:
        """A server's own words without the key. (A placeholder of a few letters is no secret, but
        may be a word.)
        """
        secret = self._endpoint.key.get_secret_value()
        return text.replace(secret, "[key]") if len(secret) >= 8 else text

    def quoted(self, text: str) -> str:
        """The start of a server's words for an error. Empty for a visitor's endpoint: it may be a
        server that only this
        one can reach."""
        return "" if self._endpoint.of_visitor else " ".join(self.scrubbed(text).split())[:200]
