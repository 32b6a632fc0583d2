"""One frozen run through a grid of chunkers × embedders (× with and without enrichment), as V24's tables 4, 7, 8, 9.

Every cell judges the same claims over the same pages with the same verifier; what differs is the passages it is given.
"""

from __future__ import annotations

import mmap
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attribution import events
from attribution.embedders import EMBEDDERS
from attribution.pipeline import run as pipeline
from attribution.registry import build
from attribution.snapshots.snapshot import Snapshot
from attribution.storage.store import Store
from attribution.types import RELATIONS, Claim, Evidence, Report

# the rows: names of chunkers with what else is set for them
CUTS: dict[str, dict[str, Any]] = {
    "fixed 256": {"chunker": "fixed", "chunk_size": 256},
    "fixed 512": {"chunker": "fixed", "chunk_size": 512},
    "recursive 512": {"chunker": "recursive", "chunk_size": 512},
    "sentence windows": {"chunker": "sentence", "chunk_size": 512},
}
OUTCOMES = (*RELATIONS, "missing")
_STATM = Path("/proc/self/statm")


@dataclass(frozen=True)
class Choice:
    """One cell to compute."""

    cut: str  # a name of CUTS
    embedder: str
    enriched: bool  # are the claims searched for and judged as enriched?


@dataclass(frozen=True)
class Cell:
    """One cell computed, from empty caches."""

    choice: Choice
    report: Report
    shares: dict[str, float]  # of the checked claims by outcome; they sum to 1
    seconds: float  # chunking, embedding, search and judging; loading the models not counted
    megabytes: float | None  # most resident memory beyond what was there before; None: this system does not tell


@dataclass(frozen=True)
class Difference:
    """A claim that two cells gave other passages."""

    claim: Claim
    left: tuple[Evidence, ...]  # found in the first cell alone
    right: tuple[Evidence, ...]


def choices(snapshot: Snapshot, cuts: Sequence[str], embedders: Sequence[str]) -> list[Choice]:
    """The cells; with and without enrichment where any claim of the run was enriched."""
    both = any(claim.enriched for claim in snapshot.report.claims)
    return [
        Choice(c, e, enriched) for enriched in ((True, False) if both else (True,)) for c in cuts for e in embedders
    ]


def grid(snapshot: Snapshot, chosen: Sequence[Choice], stop: threading.Event) -> Iterator[Cell]:
    """The cells one by one; a stopped one is not given. Nothing is saved, nothing is searched or fetched.

    Raises Unavailable where a model is not there, as a run does.
    """
    with TemporaryDirectory(prefix="grid-") as folder:
        for number, choice in enumerate(chosen):
            store = Store.open(f"sqlite:///{folder}/{number}.sqlite3")
            try:
                cell = _cell(snapshot, choice, store, stop)
            finally:
                store.close()
            if cell is None:
                return
            yield cell


def _cell(snapshot: Snapshot, choice: Choice, store: Store, stop: threading.Event) -> Cell | None:
    settings = snapshot.settings(**CUTS[choice.cut], embedder=choice.embedder, ranking="vectors")
    build(EMBEDDERS, choice.embedder, settings, "embedder").embed(["A text that loads the model."])
    source = snapshot.report
    claims = source.claims if choice.enriched else tuple(c.model_copy(update={"enriched": None}) for c in source.claims)
    frozen = replace(snapshot.recomputed(), report=source.model_copy(update={"claims": claims}))
    report: Report | None = None
    with _peak() as peak:
        started = time.perf_counter()
        for event in pipeline.run(source.question, source.answer, settings, store, stop=stop, frozen=frozen):
            if isinstance(event, events.Finished):
                report = event.report
        seconds = time.perf_counter() - started
    if report is None or report.stopped:
        return None
    return Cell(choice, report, shares(report), round(seconds, 2), peak[0] if peak else None)


def outcome(claim_id: str, report: Report) -> str:
    """The relation of the piece that says most for or against the claim, as one prediction a claim (V24)."""
    pieces = [e for e in report.evidence if e.claim_id == claim_id]
    if not pieces:
        return "missing"
    decisive = [e for e in pieces if e.relation != "no_relation"]
    if not decisive:
        return "no_relation"
    return max(decisive, key=lambda e: max(e.probabilities.entailed, e.probabilities.contradicted)).relation


def shares(report: Report) -> dict[str, float]:
    """The share of each outcome among the claims that were checked; all 0 where none was."""
    checked = [v.claim_id for v in report.verdicts if v.label != "not_checked"]
    found = [outcome(claim_id, report) for claim_id in checked]
    return {name: round(found.count(name) / max(1, len(found)), 4) for name in OUTCOMES}


def differences(left: Report, right: Report) -> list[Difference]:
    """The claims whose passages differ: pieces that share no character with any of the other cell's."""

    def alone(mine: Sequence[Evidence], others: Sequence[Evidence]) -> tuple[Evidence, ...]:
        return tuple(
            m for m in mine if not any(m.page_id == o.page_id and m.start < o.end and o.start < m.end for o in others)
        )

    found = []
    for claim in left.claims:
        a = [e for e in left.evidence if e.claim_id == claim.id]
        b = [e for e in right.evidence if e.claim_id == claim.id]
        difference = Difference(claim, alone(a, b), alone(b, a))
        if difference.left or difference.right:
            found.append(difference)
    return found


@contextmanager
def _peak() -> Iterator[list[float]]:
    """Watches the resident memory; afterwards the list holds its growth in MB, or nothing where it cannot be read."""
    result: list[float] = []
    if not _STATM.exists():
        yield result
        return
    over = threading.Event()

    def resident() -> float:
        return int(_STATM.read_text().split()[1]) * mmap.PAGESIZE / 1e6

    first = resident()
    most = [first]

    def watch() -> None:
        while not over.wait(0.02):
            most[0] = max(most[0], resident())

    watcher = threading.Thread(target=watch, name="memory", daemon=True)
    watcher.start()
    try:
        yield result
    finally:
        over.set()
        watcher.join()
        result.append(round(max(most[0], resident()) - first, 1))
