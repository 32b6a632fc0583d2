"""The REST API: /analyze streams a run, /verify and /segment answer at once, /runs lists the runs
of a key's client.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from types import FrameType
from typing import Annotated, Literal

import uvicorn
from fastapi import APIRouter, FastAPI, Path, Query, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse
from fastapi.security import HTTPBearer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from attribution.claims.enrichment import transcript
from attribution.edits import Judge
from attribution.errors import (
    AttributionError,
    BadInput,
    Busy,
    LlmFailed,
    NotYours,
    StoreError,
    Unavailable,
)
from attribution.events import Event, Finished, RunStarted
from attribution.models.engine import stoppable
from attribution.pipeline import claims
from attribution.pipeline.editing import edit
from attribution.pipeline.estimate import check_input
from attribution.pipeline.judge import GivenClaim
from attribution.pipeline.judge import judge as judge_claims
from attribution.pipeline.record import VERSION
from attribution.pipeline.run import run
from attribution.pipeline.second_reader import SecondReader
from attribution.policy import DecisionPolicy
from attribution.server import bodies, mcp
from attribution.server.guard import Guard, Keys
from attribution.server.middleware import AllowedHosts, ProtectedReplies
from attribution.server.work import Measured, Metrics, Work
from attribution.settings import LIMITS, Settings
from attribution.store.history import HistoryQuery
from attribution.store.store import Store
from attribution.types import AnalystLabel, AnalystVerdict, Judgement, Pair, Report, Segmented
from attribution.verdicts import agreeing, relation
from attribution.verifiers import VERIFIERS, policy_of
from attribution.verifiers.pairs import Refusal, verify_each

STATUS = {BadInput: 400, Busy: 429, LlmFailed: 502, Unavailable: 503, StoreError: 503}
PATIENCE = 5  # seconds that /health waits for the database
POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # the Content-Security-Policy of its pages
RETRY = "30"  # seconds, with 429
TOGETHER = 16  # pairs of /verify in one turn
LINES = "application/x-ndjson"
WORK = bodies.refusals(400, 429, 502)  # of an endpoint that checks something
Id = Annotated[str, Path(max_length=LIMITS.name)]  # of a run or claim
_log = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """A server that answers waiting clients before a signal ends it. Its process then ends by that
    signal too.
    """

    def __init__(self, config: uvicorn.Config, work: Work) -> None:
        super().__init__(config)
        self._work = work

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        asyncio.get_running_loop().call_soon_threadsafe(self._work.end)
        super().handle_exit(sig, frame)


def create(own: Settings, keys: Keys, hosts: frozenset[str], work: Work) -> ASGIApp:
    """Create the application. `own` are the settings that clients choose from, `hosts` the names of
    the server.
    """
    tools = mcp.server(own, work)
    mounted = tools.streamable_http_app(
        streamable_http_path="/",
        json_response=True,
        stateless_http=True,
        max_request_body_size=bodies.MAX_BODY,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=False
        ),  # AllowedHosts does it
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
        responses=bodies.refusals(413, 421, 500, 503),
    )
    key = HTTPBearer(auto_error=False, description="A key of this server; Guard compares it")
    keyed = APIRouter(dependencies=[Security(key)], responses=bodies.refusals(401, 422))
    metrics = Metrics(work.turns)
    _errors(app)
    _about_the_server(app, keyed, own, work, metrics)
    _checks(keyed, own, work, metrics)
    _runs(keyed, own)
    app.include_router(keyed)
    app.mount("/mcp", mounted)
    app.add_middleware(Measured, metrics=metrics)
    app.add_middleware(Guard, keys=keys)  # the last one added is the first to see a request
    return ProtectedReplies(AllowedHosts(app, hosts), POLICY)


def _store(own: Settings, request: Request) -> Store:
    return Store.open(own.database_url, by=request.state.owner)


def _owned(database: Store, run_id: str) -> Report:
    report = database.runs.load(run_id) if database.rights.access(run_id).own else None
    if report is None:
        raise HTTPException(404, "no finished run of this key has that id")
    return report


def _about_the_server(
    app: FastAPI, keyed: APIRouter, own: Settings, work: Work, metrics: Metrics
) -> None:
    """Add the endpoints on the server itself."""

    @app.get("/health")
    async def health() -> dict[str, object]:
        """Check that the server and its database respond, and report how many runs are active and
        waiting.
        """
        try:
            await asyncio.wait_for(
                asyncio.to_thread(Store.open, own.database_url), PATIENCE
            )  # not in the pool, where it could wait
        except TimeoutError:
            raise StoreError(
                f"the database has not answered for {PATIENCE} seconds: check that it is running"
            ) from None
        running, waiting = work.turns.counts()
        return {"status": "ok", "pipeline": VERSION, "running": running, "waiting": waiting}

    @keyed.get(
        "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}}
    )
    async def measured() -> Response:
        """Return counts of requests, seconds and runs in the Prometheus format."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(bodies.reference_page(app.openapi()))


def _checks(app: APIRouter, own: Settings, work: Work, metrics: Metrics) -> None:
    """Add the endpoints that segment, verify and analyse; their requests are queued."""

    @app.post("/segment", responses=WORK)
    async def segment(body: bodies.AnswerBody, request: Request) -> dict[str, object]:
        """Return the claims of an answer with their spans. The request is queued; it ends if the
        client disconnects.
        """
        settings = bodies.settings(own, {}, body.segmenter)
        check_input(body.question, body.answer, settings)
        question = transcript(body.question, body.context)

        def segmented(stop: threading.Event) -> Iterator[Segmented]:
            yield claims.segment(question, body.answer, settings, stop)

        made = await work.result(request.state.owner, request, segmented)
        found = [{"id": c.id, "text": c.text, "spans": c.spans} for c in made.claims]
        return {"claims": found, "failures": [f.model_dump(mode="json") for f in made.failures]}

    @app.post("/verify", responses=WORK)
    async def verify(body: bodies.VerifyBody, request: Request) -> dict[str, object]:
        """Return a relation and three probabilities for each pair of claim and evidence, in order;
        a bad pair gets an
        error. The request is queued; it ends if the client disconnects."""
        settings = bodies.settings(own, body.settings, verifier=body.verifier)
        pairs = [(pair.claim, pair.evidence) for pair in body.pairs]
        bodies.check_compared(text for pair in pairs for text in pair)

        def verified(stop: threading.Event) -> Iterator[dict[str, object]]:
            verifier, policy = VERIFIERS.build(settings.verifier, settings), policy_of(settings)
            results: list[dict[str, object]] = []
            for start in range(0, len(pairs), TOGETHER):
                group = pairs[start : start + TOGETHER]
                with stoppable(stop):
                    judged = verify_each(verifier, group)
                results += [_judged(*one, policy) for one in zip(group, judged, strict=True)]
                yield {"verifier": verifier.version, "results": results}

        return await work.result(request.state.owner, request, verified, by_step=True)

    @app.post("/judge", responses=WORK)
    async def judge(body: bodies.JudgeBody, request: Request) -> dict[str, object]:
        """Return the verdict on a claim, its strength, and the relation of each passage, in order.
        The request is
        queued; it ends if the client disconnects."""
        settings = bodies.settings(own, body.settings, verifier=body.verifier)
        passages = bodies.passages(body.passages)
        bodies.check_compared(text for passage in passages for text in (body.claim, *passage))
        given = GivenClaim(body.claim, passages)

        def judged(stop: threading.Event) -> Iterator[dict[str, object]]:
            verifier = VERIFIERS.build(settings.verifier, settings)
            with stoppable(stop):
                (found,) = judge_claims(
                    [given], verifier, policy_of(settings), second=SecondReader.of(settings)
                )
            yield {**found.fields(), "verifier": verifier.version}

        return await work.result(request.state.owner, request, judged)

    @app.post(
        "/analyze",
        response_class=StreamingResponse,
        responses=WORK | {200: {"content": {LINES: {}}}},
    )
    def analyze(body: bodies.AnalyzeBody, request: Request) -> StreamingResponse:
        """Check an answer. Each line is a JSON object with `event`; the last is `finished` with the
        report, or
        `error`. The run ends if the client disconnects."""
        given, owner = bodies.documents(body.documents), request.state.owner
        settings = bodies.settings(
            own,
            body.settings,
            body.segmenter,
            body.verifier,
            body.sources,
            with_documents=bool(given),
        )
        check_input(body.question, body.answer, settings)
        context = body.context
        work.turns.check(owner)  # before the stream starts, while a status can still be sent

        def events(stop: threading.Event) -> Iterator[Event]:
            database = _store(own, request)
            for event in run(
                body.question, body.answer, settings, database, given, stop, context=context
            ):
                if isinstance(event, RunStarted):
                    database.runs.set_private(event.run_id)
                yield event
            metrics.runs.inc()

        return StreamingResponse(bodies.lines(work.events(owner, events)), media_type=LINES)


def _runs(app: APIRouter, own: Settings) -> None:
    """Add the endpoints on saved runs: plain functions, since they read the database, run in the
    thread pool.
    """

    @app.get("/runs")
    def runs(
        request: Request, limit: Annotated[int, Query(ge=1, le=1000)] = 50
    ) -> dict[str, object]:
        """List the newest runs that were started with this key."""
        found = _store(own, request).history.find(HistoryQuery(limit=limit)).rows
        names = ("id", "created_at", "question", "finished")
        return {"runs": [{name: getattr(row, name) for name in names} for row in found]}

    @app.get("/runs/{run_id}", responses=bodies.refusals(404))
    def one_run(run_id: Id, request: Request) -> dict[str, object]:
        """Return the report of a run that was started with this key."""
        found: dict[str, object] = json.loads(_owned(_store(own, request), run_id).to_json())
        return found

    @app.delete("/runs/{run_id}", status_code=204, responses=bodies.refusals(404))
    def delete(run_id: Id, request: Request) -> None:
        """Delete a run that was started with this key."""
        try:
            _store(own, request).runs.delete(run_id)
        except NotYours:
            raise HTTPException(404, "no run of this key has that id") from None

    judging = (
        threading.Lock()
    )  # of two verdicts at once, the second is made from the run with the first

    def judge(
        request: Request,
        run_id: str,
        claim_id: str,
        verdict: Literal["agree"] | AnalystLabel | None,
        note: str = "",
    ) -> Report:
        with judging:
            database = _store(own, request)
            report = _owned(database, run_id)
            if all(claim.id != claim_id for claim in report.claims):
                raise HTTPException(
                    404, f"no claim of this run has that id: GET /runs/{run_id} lists them"
                )
            agreed = agreeing(
                next((v.label for v in report.verdicts if v.claim_id == claim_id), None)
            )
            if verdict and agreed is None:
                raise BadInput(
                    "this claim was not compared with the sources, so it cannot be judged: judge one that was, "
                    f"see the verdicts of GET /runs/{run_id}"
                )
            change = Judge(
                claim_id=claim_id, label=agreed if verdict == "agree" else verdict, note=note
            )
            (finished,) = (
                event
                for event in edit(report, change, own, database)
                if isinstance(event, Finished)
            )
            return finished.report

    @app.put("/runs/{run_id}/claims/{claim_id}/verdict", responses=bodies.refusals(400, 404))
    def set_verdict(
        run_id: Id, claim_id: Id, body: bodies.VerdictBody, request: Request
    ) -> AnalystVerdict:
        """Set your own verdict on a claim of a run that was started with this key; the model's
        stays as it is.
        """
        report = judge(request, run_id, claim_id, body.verdict, body.note)
        return next(judged for judged in report.judgements if judged.claim_id == claim_id)

    @app.delete(
        "/runs/{run_id}/claims/{claim_id}/verdict",
        status_code=204,
        responses=bodies.refusals(400, 404),
    )
    def clear_verdict(run_id: Id, claim_id: Id, request: Request) -> None:
        """Clear your own verdict on a claim of a run that was started with this key."""
        judge(request, run_id, claim_id, None)


def _judged(pair: Pair, judged: Judgement | Refusal, policy: DecisionPolicy) -> dict[str, object]:
    if not isinstance(judged, Judgement):
        return {"error": bodies.problem(judged)}
    return {
        "relation": relation(judged.probabilities, policy),
        "probabilities": judged.probabilities.model_dump(),
        "sentence": pair[1][slice(*judged.sentence)],
    }


def _errors(app: FastAPI) -> None:
    """Add the error handlers. Every error has a type and a message, and repeats no input except
    field names.
    """

    def error_response(
        status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
    ) -> JSONResponse:
        headers = {"Retry-After": RETRY} if status == 429 else headers
        return JSONResponse({"error": {"type": kind, "message": message}}, status, headers)

    @app.exception_handler(AttributionError)
    async def ours(_: Request, error: AttributionError) -> JSONResponse:
        status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
        return error_response(status, type(error).__name__, error.public())

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        found = [
            f"{'.'.join(map(str, e['loc'][1:])) or 'the body'}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors()[:5]
        ]
        return error_response(422, "BadInput", "; ".join(found) + "; see /docs")

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        kind = {404: "NotFound", 405: "WrongMethod", 413: "TooLarge"}.get(
            error.status_code, "HTTPError"
        )
        headers = dict(error.headers or {})
        path = app.openapi()["paths"].get(getattr(request.scope.get("route"), "path", ""))
        if (
            error.status_code == 405 and path
        ):  # Starlette names those of the first route of the path
            headers["Allow"] = ", ".join(map(str.upper, path))
        return error_response(error.status_code, kind, str(error.detail), headers)

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> JSONResponse:
        _log.error("a request failed", exc_info=error)
        found = bodies.problem(error)
        return error_response(500, found["type"], found["message"])
