"""Comparisons, retrieval grids and benchmarks in the store, so that they have an address and survive a reload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import TypeAdapter

from attribution.store.store import Store
from attribution.studies.answers.two_answers import TwoAnswers, dump, load, with_report
from attribution.studies.groundedness.evaluation import Outcome
from attribution.studies.groundedness.labelled_set import LabelledRow, LabelledSet
from attribution.studies.retrieval import Cell
from attribution.studies.segmenters.comparison import Comparison, with_verdicts, without_page_texts
from attribution.types import Frozen

COMPARISON, EXPERIMENT, GRID, ANSWERS = "comparison", "experiment", "grid", "answers"  # kinds of results
BENCHMARK, BENCHMARK_SET = "benchmark", "benchmark_set"
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


def save_answers(store: Store, result_id: str, result: TwoAnswers) -> None:
    """Save the comparison of two answers."""
    store.save_result(ANSWERS, result_id, dump(result), result.report.pages)


def load_answers(store: Store, result_id: str) -> TwoAnswers | None:
    """A saved comparison of two answers with its pages' texts."""
    body = store.load_result(ANSWERS, result_id)
    if body is None:
        return None
    result = load(body)
    return with_report(result, store.with_texts(result.report))


class SavedBenchmark(Frozen):
    """A benchmark as far as it has come; its labelled responses are saved apart, once."""

    methods: tuple[str, ...]
    left_out: dict[str, str] = {}  # methods that could not be run, and why
    settings: dict[str, object]
    outcomes: tuple[Outcome, ...] = ()


class SavedSet(Frozen):
    """The labelled responses of a benchmark."""

    name: str  # of the file
    rows: tuple[LabelledRow, ...]
    problems: tuple[tuple[int, str], ...] = ()


def save_labelled_set(store: Store, result_id: str, name: str, labelled: LabelledSet) -> None:
    """Save what a benchmark is about, before it starts."""
    body = SavedSet(name=name, rows=labelled.rows, problems=labelled.problems).model_dump_json()
    store.save_result(BENCHMARK_SET, result_id, body)


def save_benchmark(store: Store, result_id: str, benchmark: SavedBenchmark) -> None:
    """Save the outcomes so far."""
    store.save_result(BENCHMARK, result_id, benchmark.model_dump_json())


def load_benchmark(store: Store, result_id: str) -> tuple[SavedSet, SavedBenchmark] | None:
    """A saved benchmark, finished or not."""
    labelled, body = store.load_result(BENCHMARK_SET, result_id), store.load_result(BENCHMARK, result_id)
    if labelled is None or body is None:
        return None
    return SavedSet.model_validate_json(labelled), SavedBenchmark.model_validate_json(body)
