"""Comparisons and retrieval grids in the store, so that they have an address and survive a reload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import TypeAdapter

from attribution.evaluation.comparison import Comparison, with_verdicts
from attribution.evaluation.experiment import without_page_texts
from attribution.evaluation.retrieval_grid import Cell
from attribution.storage.store import Store

COMPARISON, EXPERIMENT, GRID = "comparison", "experiment", "grid"  # kinds of results
_COMPARISONS, _CELLS = TypeAdapter(tuple[Comparison, ...]), TypeAdapter(tuple[Cell, ...])


def save_comparison(store: Store, result_id: str, comparison: Comparison) -> None:
    """Save the comparison of one answer."""
    body = _COMPARISONS.dump_json((without_page_texts(comparison),)).decode()
    store.save_result(COMPARISON, result_id, body, comparison.report.pages)


def load_comparison(store: Store, result_id: str) -> Comparison | None:
    """A saved comparison with its pages' texts."""
    body = store.load_result(COMPARISON, result_id)
    if body is None:
        return None
    (comparison,) = _COMPARISONS.validate_json(body)
    return with_verdicts(comparison, store.with_texts(comparison.report))


def save_experiment(store: Store, result_id: str, comparisons: Sequence[Comparison]) -> None:
    """Save the comparisons of many answers, without their pages' texts."""
    body = _COMPARISONS.dump_json(tuple(map(without_page_texts, comparisons))).decode()
    store.save_result(EXPERIMENT, result_id, body)


def load_experiment(store: Store, result_id: str) -> tuple[Comparison, ...] | None:
    """The comparisons of a saved experiment."""
    body = store.load_result(EXPERIMENT, result_id)
    return None if body is None else _COMPARISONS.validate_json(body)


def save_grid(store: Store, result_id: str, cells: Sequence[Cell]) -> None:
    """Save the finished cells of a retrieval grid, which share their pages."""
    pages = {page.id: page for cell in cells for page in cell.report.pages}
    bare = {i: page.model_copy(update={"text": ""}) for i, page in pages.items()}
    rows = tuple(
        replace(c, report=c.report.model_copy(update={"pages": tuple(bare[p.id] for p in c.report.pages)}))
        for c in cells
    )
    store.save_result(GRID, result_id, _CELLS.dump_json(rows).decode(), tuple(pages.values()))


def load_grid(store: Store, result_id: str) -> tuple[Cell, ...] | None:
    """The cells of a saved grid with their pages' texts."""
    body = store.load_result(GRID, result_id)
    if body is None:
        return None
    return tuple(replace(cell, report=store.with_texts(cell.report)) for cell in _CELLS.validate_json(body))
