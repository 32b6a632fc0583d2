"""Several runs at once, as of several visitors, against the same runs in turn; each with a store of its own.

python -m benchmarks.speed.sessions [--sessions 8] [--claims 10] [--out FILE.json]

Runs go through the queue of the server. While they go on, a thread looks how late it wakes up: that is how long a page
of another visitor would wait for the interpreter.
"""

from __future__ import annotations

import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from attribution import events
from attribution.pipeline.run import Turns, in_turn, run
from attribution.pipeline.warmup import load_models
from attribution.settings import Settings, runs_at_once
from attribution.store.store import Store
from attribution.types import Report
from benchmarks import arguments, publish
from benchmarks.pipeline import site
from benchmarks.pipeline.measure import QUESTION, peak_memory
from benchmarks.pipeline.work import Web
from benchmarks.pipeline.workload import make

LOOK = 0.05  # seconds


def session(settings: Settings, work: Web, turns: Turns, owner: str) -> Report:
    store = Store.open(settings.database_url)

    def start() -> Any:
        return run(QUESTION, work.answer, settings, store, source=work.source(settings, store))

    *_, last = in_turn(owner, threading.Event(), start, turns)
    assert isinstance(last, events.Finished)
    store.close()
    return last.report


def latest_wake(over: threading.Event) -> float:
    worst = 0.0
    while not over.is_set():
        started = time.perf_counter()
        time.sleep(LOOK)
        worst = max(worst, time.perf_counter() - started - LOOK)
    return worst


def measured(folder: Path, name: str, work: Web, sessions: int, at_once: int) -> dict[str, Any]:
    choices = [Settings(database_url=f"sqlite:///{folder}/{name}{n}.sqlite3") for n in range(sessions)]
    turns, over = Turns(runs_at_once()), threading.Event()
    with ThreadPoolExecutor(1) as watcher, ThreadPoolExecutor(at_once) as pool:
        waking = watcher.submit(latest_wake, over)
        started, cpu = time.perf_counter(), time.process_time()
        owners = [f"visitor {n}" for n in range(sessions)]
        reports = list(pool.map(lambda s, owner: session(s, work, turns, owner), choices, owners))
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        over.set()
    labels = [[v.label for v in report.verdicts] for report in reports]
    return {
        "seconds": seconds,
        "processor seconds": cpu,
        "latest wake, s": waking.result(),
        "finished": len(reports),
        "same verdicts": all(one == labels[0] for one in labels),
    }


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--sessions", type=int, default=8)
    parser.add_argument("--claims", type=int, default=10)
    args = parser.parse_args(argv)
    load_models(Settings())
    with tempfile.TemporaryDirectory() as made, site.running(args.claims) as port:
        folder, work = Path(made), Web(make(args.claims), port)
        one = measured(folder, "one", work, args.sessions, 1)
        together = measured(folder, "together", work, args.sessions, args.sessions)
    figures = {
        "sessions": args.sessions,
        "claims": args.claims,
        "one after the other": one,
        "together": together,
        "ratio of the seconds": together["seconds"] / one["seconds"],
        "ratio of the processor seconds": together["processor seconds"] / one["processor seconds"],
        "peak MB": peak_memory(),
    }
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
