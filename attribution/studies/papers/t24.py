"""The tables of T24: groundedness methods on labelled responses."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from pydantic import BaseModel

from attribution.errors import BadInput, LlmFailed
from attribution.files import Cell
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
        if steps[label]:
            continue
        scored = yield from _scored(label, system, settings, rows, inputs)
        steps[label] = "; ".join(
            f"{one} has a score" for one in missing_labels("development", scored)
        )
        if not steps[label]:
            found[label] = Measured(scored, tune(system.method, scored), _made_by(system, settings))
    if not found:
        raise BadInput("; ".join(left_out(steps)))
    if number == "T4":
        best = max(found, key=lambda label: _cells(found[label], "development")[2])
        notes = [f"the best is {best}"]
        typed = found[best]
        if inputs.settings.has_llm and not any(row.error_type for row in rows):
            types = agreed_types([row for row in rows if not row.grounded], inputs)
            exact = sum(both.is_exact for both in types.values())
            notes.append(f"both models name the same types in {exact} of {len(types)} responses")
            typed = typed._replace(scored=[_with_types(one, types) for one in typed.scored])
        return Computed(_by_error_type(typed), (*notes, *left_out(steps)))
    computed: list[ComputedRow] = []
    for label, one in found.items():
        cells = _cells(one, "development") + ([] if number == "T2" else _cells(one, "test"))
        computed.append(ComputedRow(label, one.made_by, cells))
    return Computed(computed, left_out(steps))


def _scored(
    label: str,
    system: System,
    settings: Settings,
    rows: tuple[LabelledRow, ...],
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


def _made_by(system: System, settings: Settings) -> str:
    """Name the method, its language model, and what stands in for the paper's model."""
    stand_in = str(getattr(settings, STANDS_IN.get(system.method, ""), ""))
    if system.method == "gc":
        stand_in = settings.gc_model or stand_in
    names = (system.method, settings.openai_model if system.model else "", stand_in)
    return ", ".join(filter(None, names))


def _cells(measured: Measured, split: Literal["development", "test"]) -> list[float]:
    """Return macro precision, recall and F1, and accuracy; a row without a score is wrong."""
    found = measure(measured.tuning, of_split(split, measured.scored))
    return [found.precision, found.recall, found.macro_f1, found.accuracy]


class TypesReply(BaseModel):
    """The error types that a language model sees in a response."""

    types: list[str]


class AgreedTypes(NamedTuple):
    """The error types of a response that two language models name."""

    types: list[str]
    is_exact: bool


def agreed_types(rows: Sequence[LabelledRow], inputs: TableInputs) -> dict[str, AgreedTypes]:
    """Ask two language models for the error types of ungrounded responses (T24 8).

    Returns:
        The types that both name, by the id of the response; a failed reply names none.
    """
    prompt = prompts.load("groundedness/error_types.v1", inputs.settings)
    asked: list[Question] = []
    for row in rows:
        context = joined(row.context)
        question = {"context": context, "response": row.response, "types": ERROR_TYPES}
        asked.append(Question.of(prompt, **question))
    named: list[list[set[str]]] = []
    for model in ("GPT-4o", "Sonnet 3.5"):
        replies = Llm(inputs.asking(model)).map(asked, TypesReply)
        named.append([set() if isinstance(r, LlmFailed) else set(r.value.types) for r in replies])
    agreed: dict[str, AgreedTypes] = {}
    for row, first, second in zip(rows, *named, strict=True):
        types = sorted(first & second & ERROR_TYPES.keys())
        agreed[row.id] = AgreedTypes(types, bool(first) and first == second)
    return agreed


def _with_types(one: ScoredRow, types: Mapping[str, AgreedTypes]) -> ScoredRow:
    agreed = types.get(one.row.id)
    named = "; ".join(agreed.types) if agreed else ""
    return replace(one, row=one.row.model_copy(update={"error_type": named}))


def _by_error_type(measured: Measured) -> list[ComputedRow]:
    """Count misclassified development rows by type of error (T24 8)."""
    rows: list[ComputedRow] = []
    for one in error_types(measured.tuning, of_split("development", measured.scored)):
        if one.name:
            share = percent(one.misclassified, one.rows)
            cells: list[Cell] = [one.misclassified, one.rows, share]
            rows.append(ComputedRow(TYPES.get(one.name, one.name), measured.made_by, cells))
    return rows
