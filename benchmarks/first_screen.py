"""Seconds until the form of a freshly started app can be used, with no model loaded yet: the median of several starts.

python -m benchmarks.first_screen [--starts 3] [--out FILE.json]
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def start(browser: Any) -> tuple[float, float]:
    """(seconds from the command to the listening server, seconds from opening the page to the usable form)."""
    port = free_port()
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--out", type=Path)
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
    for name, value in figures.items():
        print(f"{name}: {value:.2f}")
    if args.out:
        args.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
