"""The tables of T24: groundedness methods on labelled responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from attribution.errors import BadInput
from attribution.files import Cell
from attribution.pipeline.experiment import RowDone
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.evaluation import Outcome, run_to_file, tune
from attribution.studies.groundedness.labelled_set import LabelledRow, Split, labelled_set
from attribution.studies.papers.reproduce import (
    ANSWERS,
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    left_out,
    percent,
)


@dataclass(frozen=True)
class _System:
    """A row of T24 Table 3.

    Attributes:
        place: Of its language model among those of the command.
    """

    method: str
    place: int = 0


SYSTEMS = {
    "COS_SIM": _System("cos_sim"),
    "QUIP": _System("quip"),
    "HEM V1": _System("hem_v1"),
    "HEM V2": _System("hem_v2"),
    "FACT_KB": _System("factkb"),
    "GC-large": _System("gc"),
    "LYNX v1.1": _System("lynx"),
    "Sonnet 3.5": _System("lynx", 1),
    "GPT-4o": _System("lynx", 2),
    "RefChecker (Haiku)": _System("refchecker", 3),
    "RefChecker (Sonnet 3)": _System("refchecker", 4),
    "DeepEval Claims Verify": _System("claims_verify", 2),
    "SCGPT (Multi-Gen)": _System("selfcheck_multi", 2),
    "SCGPT (ContextNLI)": _System("contextnli"),
}
LARGE = "GC-large"
TYPES = {  # our error types, by the rows of T24 Table 4
    "terminological_error": "Terminological Errors",
    "factual_inaccuracy": "Factual Inaccuracies",
    "procedural_error": "Procedural Errors",
    "reasoning_error": "Reasoning Errors",
    "contextual_misinterpretation": "Contextual Misinterpretations",
    "misattribution": "Misattributions",
}


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table. Raises BadInput without labelled responses of both kinds."""
    if not inputs.rows:
        raise BadInput(f"T24.{number} needs labelled responses: give them with --input")
    rows = labelled_set(inputs.rows).rows
    systems = {LARGE: SYSTEMS[LARGE]} if number == "T2" else SYSTEMS
    measured: dict[str, _Measured] = {}
    steps: dict[str, str] = {}
    for label, system in systems.items():
        settings = inputs.with_model(inputs.settings, system.place)
        steps[label] = METHODS[system.method].missing(settings)
        if not steps[label]:
            measured[label] = yield from _measure(rows, label, settings, inputs)
    if number == "T4":
        best = max(measured, key=lambda label: measured[label].development_f1)
        by_type = _by_error_type(measured[best])
        return Computed(by_type, (f"the best method is {best}", *left_out(steps)))
    splits: tuple[Split, ...] = ("development",) if number == "T2" else ("development", "test")
    computed = [
        ComputedRow(label, one.method, [cell for split in splits for cell in one.figures(split)])
        for label, one in measured.items()
    ]
    return Computed(computed, left_out(steps))


@dataclass(frozen=True)
class _Decision:
    """A row, and whether the method finds it grounded; an error counts as wrong."""

    row: LabelledRow
    is_grounded: bool


@dataclass(frozen=True)
class _Measured:
    """One method with the threshold tuned on the development rows."""

    method: str
    decisions: Sequence[_Decision]
    development_f1: float

    def figures(self, split: Split) -> list[Cell]:
        """Return macro precision, recall and F1, and accuracy (T24 6)."""
        from sklearn.metrics import accuracy_score, precision_recall_fscore_support

        decisions = [one for one in self.decisions if one.row.split == split]
        if not decisions:
            return [None] * 4
        labels = [one.row.grounded for one in decisions]
        decided = [one.is_grounded for one in decisions]
        macro = precision_recall_fscore_support(
            labels, decided, labels=[True, False], average="macro", zero_division=0.0
        )
        return [*map(float, macro[:3]), float(accuracy_score(labels, decided))]


def _measure(
    rows: Sequence[LabelledRow], label: str, settings: Settings, inputs: TableInputs
) -> Generator[RowDone, None, _Measured]:
    method = SYSTEMS[label].method
    path = inputs.folder / f"{label.replace(' ', '-')}-{ANSWERS}"
    outcomes: dict[str, Outcome] = {}
    failed = 0
    for outcome in run_to_file(rows, [method], settings, path):
        if not isinstance(outcome, Outcome):
            raise BadInput(f"{label}: {outcome.reason}")
        outcomes[outcome.row] = outcome
        failed += bool(outcome.error)
        yield RowDone(len(outcomes), len(rows), failed, outcome.error)
    scored = [(row, outcomes[row.id]) for row in rows if not outcomes[row.id].error]
    development = [pair for pair in scored if pair[0].split == "development"]
    if len({row.grounded for row, _ in development}) < 2:
        raise BadInput("the development split needs grounded and ungrounded responses")
    tuning = tune(development)
    decisions: list[_Decision] = []
    for row in rows:
        score = outcomes[row.id].scores.get(tuning.reading)
        is_grounded = not row.grounded if score is None else score >= tuning.threshold
        decisions.append(_Decision(row, is_grounded))
    model = f" by {settings.openai_model}" if METHODS[method].needs and inputs.models else ""
    return _Measured(method + model, decisions, tuning.macro_f1)


def _by_error_type(measured: _Measured) -> list[ComputedRow]:
    """Count the development rows of each error type that were taken for grounded (T24 8)."""
    wrong, total = Counter[str](), Counter[str]()
    for decision in measured.decisions:
        if decision.row.split != "development":
            continue
        for kind in decision.row.error_type.split(";"):  # a response may have several
            name = TYPES.get(kind.strip(), kind.strip())
            if name:
                total[name] += 1
                wrong[name] += decision.is_grounded
    return [
        ComputedRow(name, measured.method, (wrong[name], count, percent(wrong[name], count)))
        for name, count in total.items()
    ]
