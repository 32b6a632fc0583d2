"""The tables of T24: groundedness methods on labelled responses."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence

from attribution.errors import BadInput
from attribution.pipeline.experiment import RowDone
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS, TRAINED
from attribution.studies.groundedness.evaluation import Outcome, evaluate, run
from attribution.studies.groundedness.labelled_set import LabelledRow, Split, labelled_set
from attribution.studies.papers import Series, paper
from attribution.studies.papers.reproduce import (
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    left_out,
)
from attribution.studies.preset import named_verifier

SPLITS: dict[str, tuple[Split, ...]] = {  # that a table reports
    "T2": ("development",),
    "T3": ("development", "test"),
}
STANDS_IN = {  # settings that name a model
    "cos_sim": ("embedder", "embedding_model"),
    "gc": ("gc_model",),
    "selfcheck_multi": ("verifier",),
}


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table. Raises BadInput without labelled responses of both kinds."""
    rows = labelled_set(inputs.rows).rows
    computed: dict[str, ComputedRow] = {}
    steps: dict[str, str] = {}
    for label, system in paper("t24").tables[number].series.items():
        settings = named_verifier(inputs.asking(system.model))
        steps[label] = METHODS[system.method].missing(settings)
        if steps[label]:
            continue
        outcomes = yield from _outcomes(label, system, settings, rows)
        cells: list[float] = []
        for split in SPLITS[number]:
            measured = evaluate(rows, outcomes, [system.method], split)
            steps[label] = measured.unmeasured.get(system.method, "")
            for one in measured.figures:
                cells += [one.precision, one.recall, one.macro_f1, one.accuracy]
        if cells:
            computed[label] = ComputedRow(_made_by(system, settings, rows), cells)
    if not computed:
        raise BadInput("; ".join(left_out(steps)))
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


def _made_by(system: Series, settings: Settings, rows: Sequence[LabelledRow]) -> str:
    """Name the method, its language model, and what stands in for the paper's own."""
    names = [system.method, settings.openai_model if system.model else ""]
    names += [getattr(settings, name) for name in STANDS_IN.get(system.method, ())]
    if system.method in TRAINED and not any(row.split == "training" for row in rows):
        names.append("threshold of the development split")
    return ", ".join(filter(None, names))
