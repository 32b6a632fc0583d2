"""A run's events as lines of JSON, for a client that may go away at any time."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from attribution.errors import AttributionError, setup_error
from attribution.events import (
    ClaimsReady,
    Event,
    Failed,
    Finished,
    PageReady,
    Progress,
    Queued,
    RunStarted,
    Spent,
    StageStarted,
    VerdictReady,
)

Line = dict[str, Any]
_log = logging.getLogger(__name__)


def as_line(event: Event) -> Line | None:
    """What a client is told of an event; None for nothing."""
    match event:
        case Queued(place):
            return {"event": "queued", "place": place}
        case RunStarted(run_id):
            return {"event": "started", "run": run_id}
        case StageStarted(stage):
            return {"event": "stage", "stage": stage}
        case Progress(stage, done, total):
            return {"event": "progress", "stage": stage, "done": done, "total": total}
        case ClaimsReady(claims):
            return {"event": "claims", "claims": [c.model_dump(mode="json") for c in claims]}
        case PageReady(page):
            return {"event": "page", "page": page.model_dump(mode="json", exclude={"text"})}
        case VerdictReady(verdict, evidence):
            pieces = [e.model_dump(mode="json") for e in evidence]
            return {"event": "verdict", "verdict": verdict.model_dump(mode="json"), "evidence": pieces}
        case Failed(failure):
            return {"event": "failure", "failure": failure.model_dump(mode="json")}
        case Finished(report):
            return {"event": "finished", "report": json.loads(report.to_json())}
        case Spent():
            return None


def problem(error: Exception) -> Line:
    """An error as clients see it: typed, in our own words; of what was not foreseen, only that it happened."""
    error = setup_error(error) or error
    if isinstance(error, AttributionError):
        return {"type": type(error).__name__, "message": str(error)}
    return {"type": "InternalError", "message": "the server failed; its log says more"}


async def lines(events: AsyncGenerator[Event]) -> AsyncGenerator[bytes]:
    """The events as they come. A verdict that stayed the same when all pages were there is not sent again."""
    verdicts: dict[str, Line] = {}
    try:
        async with aclosing(events):
            async for event in events:
                line = as_line(event)
                if line and isinstance(event, VerdictReady):
                    if verdicts.get(event.verdict.claim_id) == line:
                        continue
                    verdicts[event.verdict.claim_id] = line
                if line:
                    yield _encode(line)
    except Exception as error:  # ends the stream, not the server
        if not isinstance(error, AttributionError):
            _log.error("a run failed", exc_info=error)
        yield _encode({"event": "error", "error": problem(error)})


def _encode(line: Line) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
