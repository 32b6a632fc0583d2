"""The REST API: /analyze streams a run, the others answer at once. No run is saved."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Annotated, Any

import uvicorn
from fastapi import APIRouter, Depends, FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.security import HTTPBearer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attribution.conversation import transcript
from attribution.errors import (
    AttributionError,
    BadInput,
    Busy,
    LlmFailed,
    StoreError,
    Unavailable,
)
from attribution.events import Event
from attribution.pipeline import claims
from attribution.pipeline.estimate import check_input
from attribution.pipeline.record import VERSION
from attribution.pipeline.run import run
from attribution.server import bodies, mcp
from attribution.server.middleware import ProtectedReplies, error_response
from attribution.server.work import Work, judge_claim
from attribution.server_settings import api_keys
from attribution.settings import LIMITS, Settings
from attribution.store.store import Store
from attribution.text_files import count_values
from attribution.verifiers import VERIFIERS

STATUS: dict[type[AttributionError], int] = {
    BadInput: 400,
    Busy: 429,
    LlmFailed: 502,
    Unavailable: 503,
    StoreError: 503,
}
HTTP_KINDS = {404: "NotFound", 405: "WrongMethod"}
DATABASE_SECONDS = 5  # /health waits as long for the database
POLICY = "default-src 'none'"  # Content-Security-Policy
RETRY_SECONDS = "30"  # with 429
LINES = "application/x-ndjson"
STREAM: dict[int | str, dict[str, Any]] = {200: {"content": {LINES: dict[str, object]()}}}
Steps = Iterator[dict[str, object]]
_log = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """A server that answers waiting clients before a signal ends it."""

    def __init__(self, config: uvicorn.Config, work: Work) -> None:
        super().__init__(config)
        self._work = work

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        asyncio.get_running_loop().call_soon_threadsafe(self._work.end)
        super().handle_exit(sig, frame)


@dataclass(frozen=True)
class Service:
    """The operator's settings, which clients choose from, and the queue of their requests."""

    settings: Settings
    work: Work


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Own = Annotated[Service, Depends(_service)]
_key = HTTPBearer(auto_error=False, description="A key of this server; Guard compares it")
open_router = APIRouter()
router = APIRouter(dependencies=[Security(_key)])


def create(settings: Settings, keys: Keys, hosts: list[str], work: Work) -> ASGIApp:
    """Create the application.

    Args:
        settings: The operator's settings, which clients choose from.
        keys: The clients' keys.
        hosts: The names of the server.
        work: The queue of requests.
    """
    tools = mcp.server(settings, work)
    mcp_app = tools.streamable_http_app(
        streamable_http_path="/",
        json_response=True,
        stateless_http=True,
        # TrustedHostMiddleware does it
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with tools.session_manager.run():
            yield

    app = FastAPI(
        title="Attribution explorer",
        description=__doc__ or "",
        version=VERSION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses=bodies.REFUSALS,
    )
    app.state.service = Service(settings, work)
    app.include_router(open_router)
    app.include_router(router)
    app.mount("/mcp", mcp_app)
    _add_error_handlers(app)
    app.add_middleware(Guard, keys=keys)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    return ProtectedReplies(app, POLICY)


@open_router.get("/health")
async def health(service: Own) -> dict[str, object]:
    """Check that the server and its database respond; count the active and waiting runs."""
    opening = asyncio.to_thread(Store.open, service.settings.database_url)
    try:
        await asyncio.wait_for(opening, DATABASE_SECONDS)
    except TimeoutError:
        raise StoreError(
            f"the database has not answered for {DATABASE_SECONDS} seconds: check that it runs"
        ) from None
    running, waiting = service.work.turns.counts()
    return {"status": "ok", "pipeline": VERSION, "running": running, "waiting": waiting}


@router.post("/segment")
async def segment(body: bodies.AnswerBody, request: Request, service: Own) -> dict[str, object]:
    """Return the claims of an answer with their spans. The request is queued."""

    def work(stop: threading.Event) -> Steps:
        settings = bodies.settings(service.settings, {}, body.segmenter)
        check_input(body.question, body.answer, settings)
        question = transcript(body.question, body.context)
        segmented = claims.segment(question, body.answer, settings, stop)
        rows = [{"id": c.id, "text": c.text, "spans": c.spans} for c in segmented.claims]
        failures = [failure.model_dump(mode="json") for failure in segmented.failures]
        yield {"claims": rows, "failures": failures}

    return await service.work.result(request.state.owner, request, work)


@router.post("/judge")
async def judge(body: bodies.JudgeBody, request: Request, service: Own) -> dict[str, object]:
    """Return the verdict on a claim, its strength, and the relation of each passage, in order.

    The request is queued.
    """

    def work(stop: threading.Event) -> Steps:
        settings = bodies.settings(service.settings, body.settings, verifier=body.verifier)
        version = VERIFIERS.chosen(settings).version
        judged = judge_claim(body.claim, body.passages, settings, stop)
        yield {**judged.fields(), "verifier": version}

    return await service.work.result(request.state.owner, request, work)


@router.post("/analyze", response_class=StreamingResponse, responses=STREAM)
def analyze(body: bodies.AnalyzeBody, request: Request, service: Own) -> StreamingResponse:
    """Check an answer. The run ends if the client disconnects.

    Each line is a JSON object with `event`; the last is `finished` with the report, or `error`.
    """
    documents = bodies.documents(body.documents)
    owner = request.state.owner
    settings = bodies.settings(
        service.settings,
        body.settings,
        body.segmenter,
        body.verifier,
        body.sources,
        with_documents=bool(documents),
    )
    check_input(body.question, body.answer, settings)
    context = body.context
    service.work.turns.check(owner)  # while a status can still be sent

    def work(stop: threading.Event) -> Iterator[Event]:
        yield from run(
            body.question,
            body.answer,
            settings,
            documents=documents,
            stop=stop,
            context=context,
            is_saved=False,
        )

    return StreamingResponse(bodies.lines(service.work.events(owner, work)), media_type=LINES)


def _add_error_handlers(app: FastAPI) -> None:
    """Give every error a type and a message, which repeats no input except field names."""

    @app.exception_handler(AttributionError)
    async def own_error(_: Request, error: AttributionError) -> JSONResponse:
        status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
        headers = {"Retry-After": RETRY_SECONDS} if status == 429 else None
        return error_response(status, type(error).__name__, error.public(), headers)

    @app.exception_handler(RequestValidationError)
    async def invalid_request(_: Request, error: RequestValidationError) -> JSONResponse:
        problems = []
        for problem in error.errors()[:5]:
            field = ".".join(map(str, problem["loc"][1:])) or "the body"
            problems.append(f"{field}: {problem['msg'].removeprefix('Value error, ')}")
        return error_response(422, "BadInput", "; ".join(problems) + "; see /openapi.json")

    @app.exception_handler(HTTPException)
    async def http_error(_: Request, error: HTTPException) -> JSONResponse:
        kind = HTTP_KINDS.get(error.status_code, "HTTPError")
        return error_response(error.status_code, kind, str(error.detail), error.headers)

    @app.exception_handler(Exception)
    async def unexpected_error(_: Request, error: Exception) -> JSONResponse:
        _log.error("a request failed", exc_info=error)
        problem = bodies.problem(error)
        return error_response(500, problem["type"], problem["message"])


# --- keys and sizes of the API's requests ---

OPEN_PATHS = ("/health", "/openapi.json")  # need no key
SHORTEST_KEY = 16  # characters
NO_KEYS = (
    "ATTRIBUTION_API_KEYS is not set: give each client a key of at least 16 characters, "
    "separated by commas, such as one made by: "
    "python -c 'import secrets; print(secrets.token_urlsafe())'"
)
TOO_LARGE = f"the body has more than {LIMITS.request:,} bytes, or {LIMITS.values:,} values of JSON"
WRONG_KEY = "send the header Authorization: Bearer KEY, with a key of this server"


class Keys:
    """The clients' keys, compared by hash in constant time and never shown in a message."""

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise BadInput(NO_KEYS)
        for number, key in enumerate(keys, 1):
            is_plain = key.isascii() and key.isprintable() and " " not in key
            if len(key) < SHORTEST_KEY or not is_plain:
                raise BadInput(
                    f"ATTRIBUTION_API_KEYS: key {number} has {len(key)} characters; expected at "
                    f"least {SHORTEST_KEY}, printable ASCII without spaces"
                )
        self._digests = [_digest(key) for key in keys]

    @classmethod
    def from_environment(cls) -> Keys:
        """Read the keys from the environment. Raises BadInput for none and for too short ones."""
        return cls([key.get_secret_value() for key in api_keys()])

    def owner(self, authorization: str) -> str:
        """Return the token of the client that sent this header, for the fair queue.

        Returns:
            An empty string for a wrong key.
        """
        scheme, _, key = authorization.partition(" ")
        sent = _digest(key.strip())
        matches = [hmac.compare_digest(sent, digest) for digest in self._digests]
        return f"api:{sent}" if scheme.lower() == "bearer" and any(matches) else ""


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


class Guard:
    """Middleware that admits requests with a known key, and a body within the limits.

    A body is counted before anything parses it. The client is `owner` in the state of the request.
    """

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        owner = self._keys.owner(Headers(scope=scope).get("authorization", ""))
        if not owner and scope["path"].rstrip("/") not in OPEN_PATHS:
            refused = error_response(401, "WrongKey", WRONG_KEY, {"WWW-Authenticate": "Bearer"})
            await refused(scope, receive, send)
            return
        scope.setdefault("state", {})["owner"] = owner
        body = bytearray()
        is_complete = False
        while not is_complete and len(body) <= LIMITS.request:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            is_complete = not message.get("more_body")
        if len(body) > LIMITS.request or count_values(body) > LIMITS.values:
            await error_response(413, "TooLarge", TOO_LARGE)(scope, receive, send)
            return
        messages = [{"type": "http.request", "body": bytes(body)}]

        async def receive_whole() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, receive_whole, send)
