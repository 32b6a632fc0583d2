"""Connections that send half a request neither end a server nor keep others from it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from attribution.cli.serve import free_port
from benchmarks.half_open import half_open
from tests.server.conftest import KEY

ALLOWED = 1024  # open files, a common default
LIMITED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({ALLOWED}, int(sys.argv.pop(1))))
from attribution.cli.main import main
raise SystemExit(main(sys.argv[1:]))
"""
API, WEB = ("/health", "--api", "--verifier", "embedded-small"), ("/_stcore/health",)
EACH = pytest.mark.parametrize("health, flags", [(API[0], API[1:]), (WEB[0], WEB[1:])], ids=["api", "web"])


class Served:
    """`serve` in a process of its own that may open 1,024 files, and raise that to `most`."""

    def __init__(self, folder: Path, health: str, flags: tuple[str, ...], most: int = ALLOWED) -> None:
        self.port, self.log = free_port(8950), folder / "log"
        self.health = f"http://127.0.0.1:{self.port}{health}"
        command = [sys.executable, "-c", LIMITED, str(most), "serve", "--port", str(self.port), *flags]
        environment = os.environ | {"ATTRIBUTION_DATA": str(folder / "data"), "ATTRIBUTION_API_KEYS": KEY}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        until(lambda: self.seconds() < 60)

    def seconds(self) -> float:
        """How long the health check takes; for ever if there is no answer."""
        assert self.process.poll() is None, self.log.read_text()
        started = time.perf_counter()
        try:
            httpx2.get(self.health, timeout=10).raise_for_status()
        except httpx2.HTTPError:
            return float("inf")
        return time.perf_counter() - started

    def files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@contextmanager
def serving(*arguments: object) -> Iterator[Served]:
    served = Served(*arguments)  # type: ignore[arg-type]
    try:
        yield served
    finally:
        served.process.terminate()
        served.process.wait(30)


@EACH
def test_more_half_open_connections_than_files_leave_the_server_to_others(
    tmp_path: Path, health: str, flags: tuple[str, ...]
) -> None:
    with serving(tmp_path, health, flags) as served:
        before = served.files()
        with half_open(served.port, ALLOWED + 36) as opened:
            waits = []
            for _ in range(20):
                waits.append(served.seconds())
                time.sleep(0.1)
            assert max(waits) < 2
            assert served.files() < before + ALLOWED * 3 // 4
        assert opened[0] > ALLOWED
        until(lambda: served.files() < before + 20)
        assert "Traceback" not in served.log.read_text()


@EACH
def test_the_limit_of_open_files_is_raised(tmp_path: Path, health: str, flags: tuple[str, ...]) -> None:
    with serving(tmp_path, health, flags, 5000) as served:
        limits = Path(f"/proc/{served.process.pid}/limits").read_text()
        assert [line.split()[3] for line in limits.splitlines() if line.startswith("Max open files")] == ["5000"]
