"""The tables of T24: groundedness methods on labelled responses."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence

from attribution.errors import BadInput
from attribution.pipeline.experiment import RowDone
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.evaluation import (
    MethodFigures,
    Outcome,
    evaluate,
    run,
)
from attribution.studies.groundedness.labelled_set import LabelledRow, Split, labelled_set
from attribution.studies.papers import Series, paper
from attribution.studies.papers.reproduce import (
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    left_out,
)

SPLITS: dict[str, tuple[Split, ...]] = {  # that a table reports
    "T2": ("development",),
    "T3": ("development", "test"),
}
STANDS_IN = {"cos_sim": "embedder", "gc": "gc_model", "selfcheck_multi": "verifier"}


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table. Raises BadInput without labelled responses of both kinds."""
    rows = labelled_set(inputs.rows).rows
    figures: dict[str, list[MethodFigures]] = {}
    methods: dict[str, str] = {}
    steps: dict[str, str] = {}
    for label, system in paper("t24").tables[number].series.items():
        settings = inputs.asking(system.model)
        steps[label] = METHODS[system.method].missing(settings)
        if steps[label]:
            continue
        outcomes = yield from _outcomes(label, system, settings, rows)
        measured = [evaluate(rows, outcomes, [system.method], one) for one in SPLITS[number]]
        steps[label] = measured[0].unmeasured.get(system.method, "")
        if not steps[label]:
            figures[label] = [one.figures[0] for one in measured]
            methods[label] = _made_by(system, settings)
    if not figures:
        raise BadInput("; ".join(left_out(steps)))
    computed: list[ComputedRow] = []
    for label, of_splits in figures.items():
        cells: list[float] = []
        for one in of_splits:
            cells += [one.precision, one.recall, one.macro_f1, one.accuracy]
        computed.append(ComputedRow(label, methods[label], cells))
    return Computed(computed, left_out(steps))


def _outcomes(
    label: str, system: Series, settings: Settings, rows: Sequence[LabelledRow]
) -> Generator[RowDone, None, list[Outcome]]:
    outcomes: list[Outcome] = []
    for outcome in run(rows, [system.method], settings, threading.Event()):
        if not isinstance(outcome, Outcome):
            raise BadInput(f"{label}: {outcome.reason}")
        outcomes.append(outcome)
        failed = sum(bool(one.error) for one in outcomes)
        yield RowDone(len(outcomes), len(rows), failed, outcome.error)
    return outcomes


def _made_by(system: Series, settings: Settings) -> str:
    """Name the method, its language model, and what stands in for the paper's model."""
    stand_in = str(getattr(settings, STANDS_IN.get(system.method, ""), ""))
    names = (system.method, settings.openai_model if system.model else "", stand_in)
    return ", ".join(filter(None, names))
