"""Seconds until the form of a freshly started app is usable, no model loaded yet: the median of several starts.

python -m benchmarks.speed.first_screen [--starts 3] [--out FILE.json]
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from attribution.cli.serve import free_port
from benchmarks import arguments, publish

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def start(browser: Any) -> tuple[float, float]:
    """(seconds from the command to the listening server, seconds from opening the page to the usable form)"""
    port = free_port(8700)
    with tempfile.TemporaryDirectory() as data:
        started = time.perf_counter()
        server = subprocess.Popen(
            [sys.executable, "-m", "attribution", "serve", "--port", str(port)],
            env={**os.environ, "ATTRIBUTION_DATA": data},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
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
            listening = time.perf_counter()
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{port}")
            page.get_by_role("button", name="Analyse").wait_for(timeout=60_000)
            shown = time.perf_counter()
            page.close()
        finally:
            server.terminate()
            server.wait(10)
    return listening - started, shown - listening


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--starts", type=int, default=3)
    args = parser.parse_args(argv)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        times = [start(browser) for _ in range(args.starts)]
        browser.close()
    figures = {
        "starts": len(times),
        "command to listening server, s": statistics.median(t[0] for t in times),
        "opening the page to the usable form, s": statistics.median(t[1] for t in times),
    }
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
