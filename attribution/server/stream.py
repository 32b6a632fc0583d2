"""A run's events as lines of JSON, for a client that may go away at any time."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

from attribution.errors import AttributionError
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
    if isinstance(error, AttributionError):
        return {"type": type(error).__name__, "message": str(error)}
    return {"type": "InternalError", "message": "the server failed; its log says more"}


async def lines(work: Callable[[threading.Event], Iterator[Event]]) -> AsyncIterator[bytes]:
    """The events of `work` as they come. When the client goes away, its stop signal is set, so that the run ends."""
    loop, stop = asyncio.get_running_loop(), threading.Event()
    ready: asyncio.Queue[Line | None] = asyncio.Queue()

    def put(line: Line | None) -> None:
        with suppress(RuntimeError):  # the server has ended meanwhile
            loop.call_soon_threadsafe(ready.put_nowait, line)

    def run() -> None:
        try:
            for event in work(stop):
                if line := as_line(event):
                    put(line)
        except Exception as error:  # ends the stream, not the server
            put({"event": "error", "error": problem(error)})
            if not isinstance(error, AttributionError):
                raise
        finally:
            put(None)

    threading.Thread(target=run, name="api run", daemon=True).start()
    try:
        while (line := await ready.get()) is not None:
            yield json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    finally:
        stop.set()
