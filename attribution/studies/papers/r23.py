"""The tables of R23, and what people judged for V24, from an annotation project."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from attribution.errors import BadInput
from attribution.files import Cell
from attribution.store.store import Store
from attribution.studies.annotation.figures import (
    CountedJudgements,
    Measure,
    agreement,
    audited,
    paces,
    rows,
)
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Annotation, Answer
from attribution.studies.annotation.tasks import FORMS, PROPERTIES, Form
from attribution.studies.papers.reproduce import Computed, ComputedRow, Steps, TableInputs, percent

DATASETS = {"T3": "QReCC", "T4": "WoW", "T5": "CNN/DM"}
MEASURES: dict[str, tuple[Measure, ...]] = {
    "T3": ("interpretable", "attributable"),
    "T4": ("flagged", "interpretable", "attributable"),
    "T5": ("interpretable", "attributable"),
}
STAGES = {"pilot": "Pilot", "start": "Production Start", "end": "Production Finish"}
KINDS = {"Conversational QA": True, "Summarization": False}  # does a task have turns? (R23 4.1.1)
RELATIONS: dict[Answer, str] = {
    "attributable": "entailed",
    "not_attributable": "contradicted",
    "not_interpretable": "no_relation",
}
PEOPLE = "people"


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table of a project. Raises BadInput without one."""
    yield from ()
    counted = judged(f"R23.{number}", inputs, "qa", "summary")
    if number in DATASETS:
        return _shares(number, counted)
    compute_rows = {"T6": _agreement, "T7": _audit, "T8": _times}[number]
    return Computed(compute_rows(counted))


def judged(number: str, inputs: TableInputs, *forms: Form) -> CountedJudgements:
    """Return what people judged in the named project. Raises BadInput without it."""
    saved = Annotations(Store.open(inputs.settings.database_url).database)
    projects = {project.name: project for project in saved.projects() if project.form in forms}
    if inputs.project not in projects:
        words = " or ".join(f"“{FORMS[form]}”" for form in forms)
        known = ", ".join(projects) or "none"
        problem = f"{number} needs an annotation project of the form {words}: --project NAME"
        raise BadInput(f"{problem}, one of: {known}")
    return CountedJudgements.of(saved, projects[inputs.project])


def _shares(number: str, counted: CountedJudgements) -> Computed:
    """Return the shares of each system on the table's data set, or on all."""
    name = DATASETS[number]
    systems = rows(counted.tasks, counted.answers)
    named = [one for one in systems if one.dataset.casefold() == name.casefold()]
    computed: list[ComputedRow] = []
    for one in named or systems:
        cells = [one.shares[measure].percent for measure in MEASURES[number]]
        computed.append(ComputedRow(one.system, PEOPLE, cells))
    note = f"no task is of the data set {name}: all tasks are counted"
    return Computed(computed, () if named else (note,))


def _agreement(counted: CountedJudgements) -> list[ComputedRow]:
    computed: list[ComputedRow] = []
    for dataset, judgements in counted.by_dataset().items():
        found = agreement(judgements)
        row = ComputedRow(dataset or "not named", PEOPLE, (found.pairwise, found.alpha))
        computed.append(row)
    return computed


def _of_kind(
    kind: str, judgements: Sequence[Annotation], counted: CountedJudgements
) -> list[Annotation]:
    return [j for j in judgements if bool(counted.tasks[j.task_id].turns) is KINDS[kind]]


def _audit(counted: CountedJudgements) -> list[ComputedRow]:
    """Return unflagged judgements, the share audited, and the share found right."""
    unflagged = [j for j in counted.all if j.content.answer != "flagged"]
    computed: list[ComputedRow] = []
    for kind in KINDS:
        judgements = _of_kind(kind, unflagged, counted)
        sampled = audited(judgements, counted.audits)
        shares = (percent(sampled.whole, len(judgements)), sampled.percent)
        computed.append(ComputedRow(kind, PEOPLE, (len(judgements), *shares)))
    return computed


def _times(counted: CountedJudgements) -> list[ComputedRow]:
    """Return the number of judgements and their mean seconds in each stage."""
    cells: dict[str, list[Cell]] = {period: [] for period in STAGES}
    for kind in KINDS:
        for pace in paces(_of_kind(kind, counted.all, counted), counted.pilot):
            cells[pace.period] += [pace.judgements, pace.seconds]
    return [ComputedRow(STAGES[period], PEOPLE, own) for period, own in cells.items()]


def properties(inputs: TableInputs) -> list[ComputedRow]:
    """Return by segmenter how many judged claims have each of five properties (V24 Table 2)."""
    counted = judged("V24.T2", inputs, "property")
    systems: dict[str, dict[str, Cell]] = defaultdict(dict)
    for one in rows(counted.tasks, counted.answers):
        share = one.shares["interpretable"]
        systems[one.system][one.dataset] = f"{share.part}/{share.whole}"
    return [
        ComputedRow(name, PEOPLE, [cells.get(one) for one in PROPERTIES])
        for name, cells in systems.items()
    ]


def relations(inputs: TableInputs) -> dict[str, Counter[str]]:
    """Return how often people found each relation of a pair, by row of V24 Table 4."""
    counted = judged("V24.T4", inputs, "relation")
    systems: dict[str, Counter[str]] = defaultdict(Counter)
    for task_id, answer in counted.answers.items():
        if answer in RELATIONS:
            systems[counted.tasks[task_id].system][RELATIONS[answer]] += 1
    return systems
