"""The tables of T24: groundedness methods on labelled responses."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel

from attribution.errors import BadInput, LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.pipeline.experiment import RowDone
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS, joined
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
from attribution.studies.groundedness.labelled_set import ERROR_TYPES, LabelledRow, labelled_set
from attribution.studies.papers import Series, paper
from attribution.studies.papers.reproduce import (
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    left_out,
    percent,
)

STANDS_IN = {"cos_sim": "embedder", "gc": "gc_model", "selfcheck_multi": "verifier"}


class Measured(NamedTuple):
    """A system on the labelled responses."""

    scored: list[ScoredRow]
    tuning: Tuning
    made_by: str

    def cells(self, split: Literal["development", "test"]) -> list[float]:
        """Return macro precision, recall and F1, and accuracy; a row without a score is wrong."""
        found = measure(self.tuning, of_split(split, self.scored))
        return [found.precision, found.recall, found.macro_f1, found.accuracy]


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table. Raises BadInput without labelled responses of both kinds."""
    rows = labelled_set(inputs.rows).rows
    found: dict[str, Measured] = {}
    steps: dict[str, str] = {}
    for label, system in paper("t24").tables[number].series.items():
        settings = inputs.asking(system.model)
        steps[label] = METHODS[system.method].missing(settings)
        if steps[label]:
            continue
        scored = yield from _scored(label, system, settings, rows, inputs)
        missing = missing_labels("development", scored)
        steps[label] = "; ".join(f"{one} has a score" for one in missing)
        if not missing:
            tuning = tune(system.method, scored)
            found[label] = Measured(scored, tuning, _made_by(system, settings))
    if not found:
        raise BadInput("; ".join(left_out(steps)))
    if number == "T4":
        computed = _by_error_type(found, rows, inputs)
        return Computed(computed.rows, [*computed.notes, *left_out(steps)])
    computed_rows: list[ComputedRow] = []
    for label, one in found.items():
        cells = one.cells("development") + ([] if number == "T2" else one.cells("test"))
        computed_rows.append(ComputedRow(label, one.made_by, cells))
    return Computed(computed_rows, left_out(steps))


def _scored(
    label: str,
    system: Series,
    settings: Settings,
    rows: Sequence[LabelledRow],
    inputs: TableInputs,
) -> Generator[RowDone, None, list[ScoredRow]]:
    path = inputs.folder / f"{label.replace(' ', '-')}.jsonl"
    outcomes: list[Outcome] = []
    for outcome in run_to_file(rows, [system.method], settings, path):
        if not isinstance(outcome, Outcome):
            raise BadInput(f"{label}: {outcome.reason}")
        outcomes.append(outcome)
        failed = sum(bool(one.error) for one in outcomes)
        yield RowDone(len(outcomes), len(rows), failed, outcome.error)
    return scored_rows(rows, outcomes, system.method)


def _made_by(system: Series, settings: Settings) -> str:
    """Name the method, its language model, and what stands in for the paper's model."""
    stand_in = str(getattr(settings, STANDS_IN.get(system.method, ""), ""))
    names = (system.method, settings.openai_model if system.model else "", stand_in)
    return ", ".join(filter(None, names))


class TypesReply(BaseModel):
    """The error types that a language model sees in a response."""

    types: list[str]


def agreed_types(
    rows: Sequence[LabelledRow], inputs: TableInputs
) -> tuple[dict[str, set[str]], str]:
    """Ask two language models for the error types of ungrounded responses (T24 8).

    Returns:
        The types that both name, by the id of the response, and how often they name the same; a
        failed reply names none.
    """
    prompt = prompts.load("groundedness/error_types.v1", inputs.settings)
    asked: list[Question] = []
    for row in rows:
        question = {"context": joined(row.context), "response": row.response}
        asked.append(Question.of(prompt, **question, types=ERROR_TYPES))
    named: list[list[set[str]]] = []
    for model in ("GPT-4o", "Sonnet 3.5"):
        replies = Llm(inputs.asking(model)).map(asked, TypesReply)
        named.append([set() if isinstance(r, LlmFailed) else set(r.value.types) for r in replies])
    pairs = list(zip(*named, strict=True))
    exact = sum(bool(first) and first == second for first, second in pairs)
    agreed: dict[str, set[str]] = {}
    for row, (first, second) in zip(rows, pairs, strict=True):
        agreed[row.id] = first & second & ERROR_TYPES.keys()
    return agreed, f"both models name the same types in {exact} of {len(rows)} responses"


def _by_error_type(
    found: Mapping[str, Measured], rows: Sequence[LabelledRow], inputs: TableInputs
) -> Computed:
    """Count the development rows that the best system misclassifies by type of error (T24 8)."""
    best = max(found, key=lambda label: found[label].cells("development")[2])
    notes = [f"the best is {best}"]
    scored = of_split("development", found[best].scored)
    if inputs.settings.has_llm and not any(row.error_type for row in rows):
        types, agreement = agreed_types([one.row for one in scored if not one.row.grounded], inputs)
        notes.append(agreement)
        for place, one in enumerate(scored):
            named = "; ".join(sorted(types.get(one.row.id, ())))
            row = one.row.model_copy(update={"error_type": named})
            scored[place] = ScoredRow(row, one.outcome)
    computed: list[ComputedRow] = []
    for kind in error_types(found[best].tuning, scored):
        if kind.name:
            cells = (kind.misclassified, kind.rows, percent(kind.misclassified, kind.rows))
            words = kind.name.replace("_", " ").title()
            label = f"{words}s".replace("ys", "ies")  # as the rows of T24 Table 4
            computed.append(ComputedRow(label, found[best].made_by, cells))
    return Computed(computed, notes)
