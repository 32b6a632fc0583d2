"""Measurements in a browser: the app as `serve` starts it, and Chromium."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attribution.cli.serve import free_port

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@contextmanager
def listening(port: int, *command: str, **environment: str) -> Iterator[tuple[str, int]]:
    """(address, process id) of a server that `python COMMAND` starts, within a minute or with RuntimeError."""
    started = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, *command], env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                break
            except OSError:
                if time.perf_counter() - started > 60:
                    raise RuntimeError("the server did not start within a minute") from None
                time.sleep(0.02)
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.terminate()
        server.wait(10)


@contextmanager
def serving(data: str | Path, database: str = "") -> Iterator[tuple[str, int]]:
    """(address, process id) of an app that listens, over a data folder and the database in it, or another one."""
    port = free_port(8700)
    choices = {"ATTRIBUTION_DATA": str(data), "ATTRIBUTION_DATABASE_URL": database}
    with listening(port, "-m", "attribution", "serve", "--port", str(port), **choices) as server:
        yield server


def seconds(function: Callable[[], object], times: int = 5) -> float:
    """The median of several calls."""
    measured = []
    for _ in range(times):
        started = time.perf_counter()
        function()
        measured.append(time.perf_counter() - started)
    return statistics.median(measured)
