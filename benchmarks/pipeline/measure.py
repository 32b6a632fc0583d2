"""One measured run in a process of its own, so that its peak memory is its own; prints one line of JSON.

python -m benchmarks.pipeline.measure plain|pipeline --claims 10 [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attribution import events
from attribution.evidence.gathering import LiveSources
from attribution.evidence.sources import Sources
from attribution.fetching.fetcher import Fetcher
from attribution.fetching.sandbox import read
from attribution.models.onnx import in_threads
from attribution.run.claims import annotate, check_coherence, segment
from attribution.run.run import run
from attribution.run.warmup import load_models
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.words import words_of
from attribution.types import Claim, Evidence, Page, SearchHit
from benchmarks.pipeline import site
from benchmarks.pipeline.workload import Workload, make
from benchmarks.processes import megabytes, processes

QUESTION = "What is known about these towns?"
PAGE = b"<p>A page that the extraction processes read before the clock starts.</p>"
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """Of this process and of those that it has started and that still run."""
    total = time.process_time()
    for pid in processes(os.getpid())[1:]:
        parts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        total += (int(parts[11]) + int(parts[12])) / TICKS
    return total


def peak_memory() -> float:
    """Megabytes of this process and of those it has started, each at its peak."""
    return sum(megabytes(pid, "VmHWM") for pid in processes(os.getpid()))


class Engine:
    """The search engine of the workload: three pages for each claim, at once."""

    name = "workload"

    def __init__(self, workload: Workload, port: int) -> None:
        self._workload, self._port = workload, port
        self._words = [set(words_of(claim)) for claim in workload.claims]

    def search(self, query: str, k: int) -> list[SearchHit]:
        asked = set(words_of(query))
        best = max(range(len(self._words)), key=lambda i: (len(asked & self._words[i]), -i))
        pages = [self._workload.pages[i] for i in self._workload.found[best]]
        urls = [f"http://{page.host}:{self._port}{page.path}" for page in pages]
        return [
            SearchHit(url, page.title, n, self.name, query)
            for n, (url, page) in enumerate(zip(urls, pages, strict=True), 1)
        ]


def found(claim: Claim, label: str, evidence: Sequence[Evidence], urls: dict[str, str]) -> dict[str, Any]:
    """What is compared: the verdict, and each passage with its relation."""
    pieces = {
        f"{urls[e.page_id].partition('.example')[0]}…{urls[e.page_id].rpartition('/')[2]}@{e.end}": e.relation
        for e in evidence
    }
    return {"claim": claim.text, "label": label, "evidence": pieces}


def pipeline(settings: Settings, workload: Workload, engine: Engine, store: Store) -> dict[str, Any]:
    """Seconds, stages and results of one run of the pipeline."""
    fetcher = Fetcher(settings, allow=lambda address: address == "127.0.0.1")
    source = LiveSources(settings, store, Sources(searchers=[engine]), fetcher.fetch)
    first, started, cpu = 0.0, time.perf_counter(), cpu_seconds()
    for event in run(QUESTION, workload.answer, settings, store, source=source):
        if isinstance(event, events.VerdictReady) and not first:
            first = time.perf_counter() - started
    seconds, cpu = time.perf_counter() - started, cpu_seconds() - cpu
    assert isinstance(event, events.Finished)
    report = event.report
    urls = {page.id: page.url for page in report.pages}
    evidence: dict[str, list[Evidence]] = {claim.id: [] for claim in report.claims}
    for piece in report.evidence:
        evidence[piece.claim_id].append(piece)
    labels = {verdict.claim_id: verdict.label for verdict in report.verdicts}
    return {
        "seconds": seconds,
        "cpu": cpu,
        "first verdict": first,
        "stages": report.timings,
        "chunks": report.usage.chunks,
        "pages": len(report.pages),
        "failures": [f.message for f in report.failures],
        "labels": Counter(labels.values()),
        "results": [found(c, labels[c.id], evidence[c.id], urls) for c in report.claims],
    }


def plain(settings: Settings, workload: Workload, engine: Engine, store: Store, compare: bool) -> dict[str, Any]:
    """The same by the plain recipe; to compare, not timed, what its models find in all pages."""
    from benchmarks.pipeline import plain as recipes

    recipe = recipes.Plain(settings)
    recipe.warm()
    first, started, cpu = 0.0, time.perf_counter(), cpu_seconds()
    stages: dict[str, float] = defaultdict(float)
    segmented = segment(QUESTION, workload.answer, settings, threading.Event())
    claims, _ = annotate(QUESTION, workload.answer, segmented.claims, [], None, ())
    claims, _ = check_coherence(workload.answer, claims, settings, store)
    stages["segment"] = time.perf_counter() - started
    pages: dict[str, Page] = {}
    labels: Counter[str] = Counter()
    own = []
    for claim in claims:
        of_claim = []
        for hit in engine.search(claim.statement, 3):
            at = time.perf_counter()
            content, media_type = recipes.download(hit.url)
            stages["download"] += time.perf_counter() - at
            at = time.perf_counter()
            of_claim.append(recipes.read(hit.url, content, media_type))
            stages["extract"] += time.perf_counter() - at
        pages |= {page.id: page for page in of_claim}
        verdict, evidence = recipe.check(claim, QUESTION, of_claim)
        labels[verdict.label] += 1
        own.append((verdict, evidence))
        first = first or time.perf_counter() - started
    seconds, cpu = time.perf_counter() - started, cpu_seconds() - cpu
    stages |= {"embed": recipe.embedder.seconds, "verify": recipe.verifier.seconds}
    memory = peak_memory()
    urls = {page.id: page.url for page in pages.values()}
    results = []
    if compare:
        together = recipe.check_together(claims, QUESTION, list(pages.values()))
        results = [found(c, v.label, e, urls) for c, (v, e) in zip(claims, together, strict=True)]
    return {
        "seconds": seconds,
        "cpu": cpu,
        "first verdict": first,
        "memory": memory,
        "stages": stages,
        "pages": len(pages),
        "labels": labels,
        "results": results,
        "own pages": [found(c, v.label, e, urls) for c, (v, e) in zip(claims, own, strict=True)],
    }


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", choices=("plain", "pipeline"))
    parser.add_argument("--claims", type=int, default=10)
    parser.add_argument("--compare", action="store_true", help="plain: search all pages for each claim, too")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args(argv)
    workload = make(args.claims)
    with tempfile.TemporaryDirectory() as folder, site.running(args.claims) as port:
        choices = dict(pair.split("=", 1) for pair in args.set)
        settings = Settings.from_environment(database_url=f"sqlite:///{folder}/runs.sqlite3", **choices)
        store, engine = Store.open(settings.database_url), Engine(workload, port)
        if args.recipe == "plain":
            measured = plain(settings, workload, engine, store, args.compare)
        else:
            load_models(settings)
            in_threads(lambda n: read(PAGE, "text/html", "https://example.org/", 60.0), range(2))
            cold = pipeline(settings, workload, engine, store)
            memory = peak_memory()
            measured = {"cold": cold, "warm": pipeline(settings, workload, engine, store), "memory": memory}
        store.close()
    print(json.dumps(measured))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
