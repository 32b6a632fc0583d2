"""What /metrics shows, in the format of Prometheus."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attribution.pipeline.turns import Turns


class Metrics:
    """Requests are counted by their route, not their path, so that nobody can make up labels."""

    def __init__(self, queue: Turns) -> None:
        self._registry = CollectorRegistry()
        names = ["route", "status"]
        self.requests = Counter("attribution_requests", "Requests by route and status", names, registry=self._registry)
        self.seconds = Histogram(
            "attribution_request_seconds", "Seconds until the reply begins", ["route"], registry=self._registry
        )
        self.runs = Counter("attribution_runs", "Runs that ended", registry=self._registry)
        running = Gauge("attribution_runs_running", "Runs under way", registry=self._registry)
        waiting = Gauge("attribution_runs_waiting", "Runs that wait for their turn", registry=self._registry)
        running.set_function(lambda: queue.counts()[0])
        waiting.set_function(lambda: queue.counts()[1])

    def text(self) -> bytes:
        return generate_latest(self._registry)


class Measured:
    """Counts the requests that get through to the application. Plain ASGI: it leaves errors in bodies as they are."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "other")
                self._metrics.requests.labels(route, message["status"]).inc()
                self._metrics.seconds.labels(route).observe(time.perf_counter() - started)
            await send(message)

        await self._app(scope, receive, noted)
