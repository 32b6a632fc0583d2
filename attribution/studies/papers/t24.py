"""The tables of T24: groundedness methods on labelled responses."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Literal, NamedTuple

from attribution.errors import BadInput
from attribution.files import Cell
from attribution.pipeline.experiment import RowDone
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.evaluation import (
    Outcome,
    ScoredRow,
    Tuning,
    error_types,
    measure,
    missing_labels,
    of_split,
    run_to_file,
    scored_rows,
    tune,
)
from attribution.studies.groundedness.labelled_set import LabelledRow, labelled_set
from attribution.studies.papers.reproduce import (
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    left_out,
    percent,
)


class System(NamedTuple):
    """A row of T24 Table 3: a method, and its language model if it asks one."""

    method: str
    model: str = ""


SYSTEMS = {
    "COS_SIM": System("cos_sim"),
    "QUIP": System("quip"),
    "HEM V1": System("hem_v1"),
    "HEM V2": System("hem_v2"),
    "FACT_KB": System("factkb"),
    "GC-large": System("gc"),
    "LYNX v1.1": System("lynx", "Lynx"),
    "Sonnet 3.5": System("lynx", "Sonnet 3.5"),
    "GPT-4o": System("lynx", "GPT-4o"),
    "RefChecker (Haiku)": System("refchecker", "Haiku"),
    "RefChecker (Sonnet 3)": System("refchecker", "Sonnet 3"),
    "DeepEval Claims Verify": System("claims_verify", "Sonnet 3.5"),
    "SCGPT (Multi-Gen)": System("selfcheck_multi", "GPT-4o"),
    "SCGPT (ContextNLI)": System("contextnli"),
}
FINE_TUNED = {"deberta-v3-large": System("gc")}  # T24 Table 2
STANDS_IN = {"cos_sim": "embedder", "gc": "verifier", "selfcheck_multi": "verifier"}
TYPES = {  # our error types, by the rows of T24 Table 4
    "terminological_error": "Terminological Errors",
    "factual_inaccuracy": "Factual Inaccuracies",
    "procedural_error": "Procedural Errors",
    "reasoning_error": "Reasoning Errors",
    "contextual_misinterpretation": "Contextual Misinterpretations",
    "misattribution": "Misattributions",
}


class Measured(NamedTuple):
    """A system on the labelled responses."""

    scored: list[ScoredRow]
    tuning: Tuning
    made_by: str


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table. Raises BadInput without labelled responses of both kinds."""
    if not inputs.rows:
        raise BadInput(f"T24.{number} needs labelled responses: give them with --input")
    rows = labelled_set(inputs.rows).rows
    systems: Mapping[str, System] = FINE_TUNED if number == "T2" else SYSTEMS
    found: dict[str, Measured] = {}
    steps: dict[str, str] = {}
    for label, system in systems.items():
        settings = inputs.asking(system.model)
        steps[label] = METHODS[system.method].missing(settings)
        if not steps[label]:
            found[label] = yield from _measure(label, system, settings, rows, inputs)
    if number == "T4":
        best = max(found, key=lambda label: _cells(found[label], "development")[2])
        return Computed(_by_error_type(found[best]), (f"the best is {best}", *left_out(steps)))
    computed: list[ComputedRow] = []
    for label, one in found.items():
        cells = _cells(one, "development") + ([] if number == "T2" else _cells(one, "test"))
        computed.append(ComputedRow(label, one.made_by, cells))
    return Computed(computed, left_out(steps))


def _measure(
    label: str,
    system: System,
    settings: Settings,
    rows: tuple[LabelledRow, ...],
    inputs: TableInputs,
) -> Generator[RowDone, None, Measured]:
    path = inputs.folder / f"{label.replace(' ', '-')}.jsonl"
    outcomes: list[Outcome] = []
    for outcome in run_to_file(rows, [system.method], settings, path):
        if not isinstance(outcome, Outcome):
            raise BadInput(f"{label}: {outcome.reason}")
        outcomes.append(outcome)
        failed = sum(bool(one.error) for one in outcomes)
        yield RowDone(len(outcomes), len(rows), failed, outcome.error)
    scored = scored_rows(rows, outcomes, system.method)
    missing = missing_labels("development", scored)
    if missing:
        raise BadInput(f"{label}: {missing[0]} has a score")
    stand_in = str(getattr(settings, STANDS_IN.get(system.method, ""), ""))
    if system.method == "gc":
        stand_in = settings.gc_model or stand_in
    made_by = (system.method, settings.openai_model if system.model else "", stand_in)
    return Measured(scored, tune(system.method, scored), ", ".join(filter(None, made_by)))


def _cells(measured: Measured, split: Literal["development", "test"]) -> list[float]:
    """Return macro precision, recall and F1, and accuracy; a row without a score is wrong."""
    found = measure(measured.tuning, of_split(split, measured.scored))
    return [found.precision, found.recall, found.macro_f1, found.accuracy]


def _by_error_type(measured: Measured) -> list[ComputedRow]:
    """Count misclassified development rows by type of error (T24 8)."""
    rows: list[ComputedRow] = []
    for one in error_types(measured.tuning, of_split("development", measured.scored)):
        if one.name:
            share = percent(one.misclassified, one.rows)
            cells: list[Cell] = [one.misclassified, one.rows, share]
            rows.append(ComputedRow(TYPES.get(one.name, one.name), measured.made_by, cells))
    return rows
