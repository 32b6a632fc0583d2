"""Seconds until the form of a freshly started app is usable, no model loaded yet, and a page of Streamlit with one
button in turn: medians of several starts.

python -m benchmarks.browser.first_screen [--starts 3] [--out FILE.json]
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from attribution.cli.serve import free_port
from benchmarks import arguments, publish
from benchmarks.browser import browser, listening, serving

WINDOW = 4000  # ms in which a new window of Chromium has loaded its own parts, two processor seconds' worth


@contextmanager
def empty(data: str) -> Iterator[tuple[str, int]]:
    """Streamlit with a button."""
    port, script = free_port(8700), Path(data, "empty.py")
    script.write_text('import streamlit as st\n\nst.button("Analyse")\n', encoding="utf-8")
    options = ["--server.port", str(port), "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    with listening(port, "-m", "streamlit", "run", str(script), *options) as server:
        yield server


def start(chromium: Any, server: Callable[[str], AbstractContextManager[tuple[str, int]]]) -> tuple[float, float]:
    """(seconds from the command to the listening server, seconds from opening the page to the usable form)"""
    page = chromium.new_page()
    page.wait_for_timeout(WINDOW)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as data, server(data) as (address, _):
        listening = time.perf_counter()
        page.goto(address)
        page.get_by_role("button", name="Analyse").wait_for(timeout=60_000)
        shown = time.perf_counter()
        page.close()
    return listening - started, shown - listening


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--starts", type=int, default=3)
    args = parser.parse_args(argv)
    with browser() as chromium:
        turns = [(start(chromium, serving), start(chromium, empty)) for _ in range(args.starts)]
    figures = {
        "starts": len(turns),
        "command to listening server, s": statistics.median(app[0] for app, _ in turns),
        "opening the page to the usable form, s": statistics.median(app[1] for app, _ in turns),
        "of an empty page, s": statistics.median(plain[1] for _, plain in turns),
        "times an empty page": statistics.median(sum(app) / sum(plain) for app, plain in turns),
    }
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
