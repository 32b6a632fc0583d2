"""A frozen run repeated for every chunker × embedder (× with and without enrichment), as in V24
Table 4, 7, 8, 9.

Every cell verifies the same claims over the same pages with the same verifier; only the passages
differ.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

from pydantic import TypeAdapter

from attribution import events
from attribution.models.loading import working_time
from attribution.pipeline.run import run
from attribution.pipeline.snapshot import Snapshot
from attribution.pipeline.warmup import load_models
from attribution.store.store import Store
from attribution.studies.results import Saved
from attribution.types import UNCHECKED, Claim, Evidence, Page, Report

# the rows: each a chunker with its settings
CHUNKINGS: dict[str, dict[str, str | int]] = {
    "fixed 256": {"chunker": "fixed", "chunk_size": 256},
    "fixed 512": {"chunker": "fixed", "chunk_size": 512},
    "recursive 512": {"chunker": "recursive", "chunk_size": 512},
    "sentence windows": {"chunker": "sentence", "chunk_size": 512},
}
OUTCOMES = ("entailed", "contradicted", "unclear", "no_relation", "missing")


@dataclass(frozen=True)
class CellChoice:
    """One cell to compute."""

    chunking: str  # a name of CHUNKINGS
    embedder: str
    enriched: bool  # False: the claims as written


@dataclass(frozen=True)
class Cell:
    """One cell."""

    choice: CellChoice
    report: Report
    shares: dict[str, float]  # of the checked claims, by outcome; they sum to 1
    seconds: (
        float  # for what neither the run nor a cell before it had computed, without loading models
    )


@dataclass(frozen=True)
class CellDifference:
    """A claim for which two cells retrieved different passages."""

    claim: Claim
    left: tuple[Evidence, ...]  # only in the first cell
    right: tuple[Evidence, ...]


def choices(
    snapshot: Snapshot, chunkings: Sequence[str], embedders: Sequence[str]
) -> list[CellChoice]:
    """All combinations; with and without enrichment if any claim of the run was enriched."""
    both = any(claim.enriched for claim in snapshot.report.claims)
    wordings = (True, False) if both else (True,)
    return [
        CellChoice(c, e, enriched) for enriched in wordings for c in chunkings for e in embedders
    ]


@contextmanager
def scratch() -> Iterator[Store]:
    """A database for the cells of one grid, which share their vectors and judgements in it."""
    with (
        TemporaryDirectory(prefix="grid-") as folder,
        closing(Store.open(f"sqlite:///{folder}/grid.sqlite3")) as store,
    ):
        yield store


def compute_cell(
    snapshot: Snapshot, choice: CellChoice, stop: threading.Event, store: Store
) -> Cell | None:
    """Compute one cell in a `scratch` store; None if it was stopped. Nothing is searched or
    fetched.

    Raises Unavailable for a model that cannot be loaded, as a run does.
    """
    settings = snapshot.settings(
        **CHUNKINGS[choice.chunking], embedder=choice.embedder, ranking="vectors"
    )
    load_models(settings)
    source = snapshot.report
    claims = (
        source.claims
        if choice.enriched
        else tuple(c.model_copy(update={"enriched": None}) for c in source.claims)
    )
    changed = replace(snapshot, report=source.model_copy(update={"claims": claims}))
    started = working_time()
    *_, last = run(
        source.question,
        source.answer,
        settings,
        store,
        stop=stop,
        source=changed,
        context=source.context,
    )
    seconds = working_time() - started
    if not isinstance(last, events.Finished) or last.report.stopped:
        return None
    report = last.report
    return Cell(choice, report, shares(report), round(seconds, 2))


def outcome(claim_id: str, report: Report) -> str:
    """One prediction for the claim (V24): the relation of its most probable deciding passage, else
    its verdict.
    """
    decisive = [
        e for e in report.evidence if e.claim_id == claim_id and e.relation != "no_relation"
    ]
    if not decisive:
        return next(v.label for v in report.verdicts if v.claim_id == claim_id)
    return max(
        decisive, key=lambda e: max(e.probabilities.entailed, e.probabilities.contradicted)
    ).relation


def shares(report: Report) -> dict[str, float]:
    """The share of each outcome among the checked claims; all 0 if there is none."""
    checked = [v.claim_id for v in report.verdicts if v.label not in UNCHECKED]
    outcomes = [outcome(claim_id, report) for claim_id in checked]
    return {name: round(outcomes.count(name) / max(1, len(outcomes)), 4) for name in OUTCOMES}


def differences(left: Report, right: Report) -> list[CellDifference]:
    """The claims whose passages differ: those that overlap with no passage of the other cell."""

    def alone(mine: Sequence[Evidence], others: Sequence[Evidence]) -> tuple[Evidence, ...]:
        return tuple(
            m
            for m in mine
            if not any(
                m.page_id == o.page_id and m.start < o.end and o.start < m.end for o in others
            )
        )

    result = []
    for claim in left.claims:
        a = [e for e in left.evidence if e.claim_id == claim.id]
        b = [e for e in right.evidence if e.claim_id == claim.id]
        difference = CellDifference(claim, alone(a, b), alone(b, a))
        if difference.left or difference.right:
            result.append(difference)
    return result


GRID = Saved("grid", TypeAdapter(tuple[Cell, ...]))


def save_grid(store: Store, result_id: str, cells: Sequence[Cell]) -> None:
    """Save the finished cells, which share their pages."""
    pages = {page.id: page for cell in cells for page in cell.report.pages}
    bare = {i: page.model_copy(update={"text": ""}) for i, page in pages.items()}
    rows = tuple(_with_pages(cell, [bare[page.id] for page in cell.report.pages]) for cell in cells)
    GRID.save(store, result_id, rows, tuple(pages.values()))


def load_grid(store: Store, result_id: str) -> tuple[Cell, ...] | None:
    """Load the cells of a grid with their pages' texts."""
    cells = GRID.load(store, result_id)
    return cells and tuple(
        replace(cell, report=store.cache.with_texts(cell.report)) for cell in cells
    )


def _with_pages(cell: Cell, pages: Sequence[Page]) -> Cell:
    return replace(cell, report=cell.report.model_copy(update={"pages": tuple(pages)}))
