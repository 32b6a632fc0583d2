"""Seconds until the form of a freshly started app is usable, no model loaded yet: the median of several starts.

python -m benchmarks.browser.first_screen [--starts 3] [--out FILE.json]
"""

from __future__ import annotations

import statistics
import tempfile
import time
from typing import Any

from benchmarks import arguments, publish
from benchmarks.browser import browser, serving

WINDOW = 4000  # ms in which a new window of Chromium has loaded its own parts, two processor seconds' worth


def start(browser: Any) -> tuple[float, float]:
    """(seconds from the command to the listening server, seconds from opening the page to the usable form)"""
    page = browser.new_page()
    page.wait_for_timeout(WINDOW)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as data, serving(data) as (address, _):
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
        times = [start(chromium) for _ in range(args.starts)]
    figures = {
        "starts": len(times),
        "command to listening server, s": statistics.median(t[0] for t in times),
        "opening the page to the usable form, s": statistics.median(t[1] for t in times),
    }
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
