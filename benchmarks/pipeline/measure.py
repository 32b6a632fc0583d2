"""One measured run in a process of its own, so that its peak memory is its own.

    python -m benchmarks.pipeline.measure pipeline|whole|bf16 --claims 10 [--documents
    library|DATA|PAGES]
    python -m benchmarks.pipeline.measure batch --claims 60

It prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attribution import events
from attribution.fetching.sandbox import RUN_SECONDS, FileReader
from attribution.models.engine import in_threads
from attribution.pipeline.claims import annotate, check_coherence, segment
from attribution.pipeline.estimate import warm_up
from attribution.pipeline.experiment import batch
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.sentences import sentences
from attribution.text_files import Row
from attribution.types import Page
from benchmarks.pipeline import site
from benchmarks.pipeline.profile import profiled
from benchmarks.pipeline.work import Stages, Web, Work, book, library, wice
from benchmarks.pipeline.workload import make
from benchmarks.processes import megabytes, processes

QUESTION = "What is known about these towns?"
PAGE = b"<p>A page that the extraction processes read before the clock starts.</p>"
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """The processor time of this process, of those that it started and that run, and of theirs."""
    total = time.process_time()
    for pid in processes(os.getpid())[1:]:
        with suppress(OSError):  # it has ended, and the one that started it has its time
            parts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            total += sum(map(int, parts[11:15])) / TICKS
    return total


def peak_memory() -> float:
    """Megabytes of this process and of those it has started, each at its peak."""
    return sum(megabytes(pid, "VmHWM") for pid in processes(os.getpid()))


def pipeline(settings: Settings, work: Work, store: Store) -> dict[str, Any]:
    """Return seconds and stages of one run of the pipeline."""
    first, first_cpu = 0.0, 0.0
    started, cpu = time.perf_counter(), cpu_seconds()
    source = work.source(settings, store)
    for event in run(QUESTION, work.answer, settings, store, source=source):
        if isinstance(event, events.VerdictReady) and not first:
            first = time.perf_counter() - started
            first_cpu = cpu_seconds() - cpu
    seconds, cpu = time.perf_counter() - started, cpu_seconds() - cpu
    assert isinstance(event, events.Finished)
    report = event.report
    return {
        "seconds": seconds,
        "cpu": cpu,
        "first verdict": first,
        "first verdict, cpu": first_cpu,
        "stages": report.timings,
        "chunks": report.usage.chunks,
        "pages": len(report.pages),
        "failures": [f.message for f in report.failures],
    }


def plain(name: str, settings: Settings, work: Work, store: Store) -> dict[str, Any]:
    """Return the same for a plain recipe."""
    from benchmarks.pipeline.plain import Plain

    recipe = Plain(name, settings)
    first, started, cpu = 0.0, time.perf_counter(), cpu_seconds()
    stages = Stages(float)
    with stages.timed("segment"):
        segmented = segment(QUESTION, work.answer, settings, threading.Event())
        claims, _ = annotate(QUESTION, work.answer, segmented.claims)
        claims = check_coherence(work.answer, claims, settings, store)
    pages: dict[str, Page] = {}
    for of_round, pages_of_round in work.rounds(claims, stages):
        pages |= {page.id: page for page in pages_of_round}
        with recipe.over(QUESTION, pages_of_round) as matcher:
            for claim in of_round:
                matcher.match([claim])
                first = first or time.perf_counter() - started
    seconds, cpu = time.perf_counter() - started, cpu_seconds() - cpu
    stages |= {"embed": recipe.embedder.seconds, "verify": recipe.verifier.seconds}
    memory = peak_memory()
    return {
        "seconds": seconds,
        "cpu": cpu,
        "first verdict": first,
        "memory": memory,
        "stages": stages,
        "pages": len(pages),
    }


def short_answers(settings: Settings, answer: str, folder: str) -> dict[str, float]:
    """Return how fast `batch` checks the sentences of an answer over the library, each alone."""
    texts = [answer[slice(*span)] for span in sentences(answer)]
    rows = [Row(number, {"answer": text}) for number, text in enumerate(texts, 1)]
    started, cpu = time.perf_counter(), cpu_seconds()
    *_, last = batch(rows, settings, Path(folder) / "reports.jsonl")
    seconds, cpu = time.perf_counter() - started, cpu_seconds() - cpu
    return {
        "answers": last.done - last.failed,
        "answers a minute": 60 * last.done / seconds,
        "cpu an answer": cpu / last.done,
    }


@contextmanager
def opened(claims: int, documents: str) -> Iterator[Work]:
    """The pages of the workload while their server runs, or documents."""
    if documents.isdecimal():
        yield book(int(documents), claims)
        return
    if documents:
        yield library(claims) if documents == "library" else wice(Path(documents), claims)
        return
    with site.running(claims) as port:
        yield Web(make(claims), port)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", choices=("pipeline", "batch", "whole", "bf16"))
    parser.add_argument("--claims", type=int, default=10)
    parser.add_argument(
        "--documents", default="", metavar="library|DATA|PAGES", help="instead of pages of the web"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args(argv)
    documents = "library" if args.recipe == "batch" else args.documents
    with tempfile.TemporaryDirectory() as folder, opened(args.claims, documents) as work:
        choices = dict(pair.split("=", 1) for pair in args.set)
        settings = Settings.from_environment(
            database_url=f"sqlite:///{folder}/runs.sqlite3", **choices
        )
        store = Store.open(settings.database_url)
        if args.recipe == "pipeline":
            warm_up(settings)
            reading = FileReader("benchmark", RUN_SECONDS)
            in_threads(lambda n: reading.read(PAGE, "text/html", "https://example.org/"), range(2))
            measured: dict[str, Any] = {}
            with profiled() as networks:
                measured["cold"] = pipeline(settings, work, store)
            measured["profile"] = networks
            measured["memory"] = peak_memory()
            measured["warm"] = pipeline(settings, work, store)
        elif args.recipe == "batch":
            warm_up(settings)
            measured = short_answers(settings, work.answer, folder)
        else:
            measured = plain(args.recipe, settings, work, store)
        store.close()
    print(json.dumps(measured))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
