"""`serve` in a process of its own, and what tests wait for."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from attribution.cli.serve import free_port

KEY, OTHER = "first-key-of-the-tests", "other-key-of-the-tests"
# each worker of pytest-xdist looks from another port on: two that found the same one free would
# both take it
PORTS = 8700 + 100 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
API = ("--api", "--verifier", "embedded-small")


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Served:
    """A server over the data of a folder, whose standard output and error go to its `log`."""

    def __init__(
        self,
        folder: Path,
        *flags: str,
        start: Sequence[str | Path] = (sys.executable, "-m", "attribution"),
        **variables: str,
    ) -> None:
        self.port, self.log, self.database = (
            free_port(PORTS),
            folder / "log",
            folder / "data/attribution.sqlite3",
        )
        self.url = f"http://localhost:{self.port}"
        self.health = self.url + ("/health" if "--api" in flags else "/_stcore/health")
        own = {
            "ATTRIBUTION_DATA": str(folder / "data"),
            "ATTRIBUTION_API_KEYS": f"{KEY},{OTHER}",
            **variables,
        }
        self.command, self.environment = (
            [*start, "serve", "--port", str(self.port), *flags],
            os.environ | own,
        )
        self.start()

    def start(self) -> None:
        """Start it, also once more at the same address."""
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, stdout=log, stderr=log
            )
        until(lambda: self.seconds() < 60, 120)

    def seconds(self) -> float:
        """How long the health check takes; for ever if there is no answer."""
        assert self.process.poll() is None, self.log.read_text()
        started = time.perf_counter()
        try:
            with urllib.request.urlopen(self.health, timeout=10):
                return time.perf_counter() - started
        except OSError:
            return float("inf")

    def end(self, number: int = 15) -> int:
        """End it by a signal; returns its status."""
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def serving(folder: Path, *flags: str, **more: object) -> Iterator[Served]:
    served = Served(folder, *flags, **more)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.end()
