"""The tables of R23 and the human rows of V24, from an annotation project."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from attribution.errors import BadInput
from attribution.files import Cell
from attribution.pipeline.experiment import RowDone
from attribution.store.store import Store
from attribution.studies.annotation.figures import (
    PERIODS,
    Measure,
    agreement,
    audited,
    differences,
    periods,
    rows,
)
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Annotation, Answer, by_task, decided, finished
from attribution.studies.annotation.tasks import FORMS, PROPERTIES, Project, Task
from attribution.studies.papers.reproduce import Computed, TableInputs, share

P = 0.01  # below which a share is significantly lower than the highest of its column (R23 Table 3)
DATASETS = {"T3": "QReCC", "T4": "WoW", "T5": "CNN/DM"}
COLUMNS: dict[str, tuple[Measure, ...]] = {
    "T3": ("interpretable", "attributable"),
    "T4": ("flagged", "interpretable", "attributable"),
    "T5": ("interpretable", "attributable"),
}
STAGES = dict(zip(PERIODS, ("Pilot", "Production Start", "Production Finish"), strict=True))


def compute(number: str, given: TableInputs) -> Iterator[RowDone | Computed]:
    """Yield one table of a project. BadInput without one, or for a name that no project has."""
    annotations, project = _project(f"R23.{number}", given)
    records, tasks = annotations.judgements(project.id), annotations.tasks(project.id)
    pilot = annotations.work(project).pilot
    judged = finished(records)
    if number in COLUMNS:
        adjudicated = {j.task_id: j for j in finished(records, "adjudication")}
        yield _shares(
            number,
            tasks,
            decided(by_task(j for j in judged if j.task_id not in pilot), adjudicated),
        )
    elif number == "T6":
        yield Computed(_agreement(tasks, [j for j in judged if j.task_id not in pilot]))
    elif number == "T7":
        yield Computed(_audit(tasks, judged, finished(records, "audit")))
    else:
        yield Computed(_times(tasks, judged, pilot))


def _project(number: str, given: TableInputs, *forms: str) -> tuple[Annotations, Project]:
    annotations = Annotations(Store.open(given.settings.database_url).database)
    projects = {p.name: p for p in annotations.projects() if not forms or p.form in forms}
    if given.project not in projects:
        of = f" of the form “{FORMS[forms[0]]}”" if forms else ""  # type: ignore[index]
        known = ", ".join(projects) or "none"
        raise BadInput(f"{number} needs an annotation project{of}: --project NAME, one of: {known}")
    return annotations, projects[given.project]


def _answers(number: str, given: TableInputs, form: str) -> list[tuple[Task, Answer | None]]:
    """Return the tasks of a project with the answer of most of its annotators, or of who
    adjudicated.
    """
    annotations, project = _project(number, given, form)
    records, tasks = annotations.judgements(project.id), annotations.tasks(project.id)
    adjudicated = {j.task_id: j for j in finished(records, "adjudication")}
    return [
        (tasks[i], answer) for i, answer in decided(by_task(finished(records)), adjudicated).items()
    ]


def properties(given: TableInputs) -> dict[str, Sequence[Cell]]:
    """Return by segmenter how many of its judged claims have each of five properties (V24 Table 2)."""
    found: dict[str, dict[str, Counter[bool]]] = defaultdict(
        lambda: {name: Counter() for name in PROPERTIES}
    )
    for task, answer in _answers("V24.T2", given, "property"):
        if task.dataset in PROPERTIES and answer in ("attributable", "not_interpretable"):
            found[task.system][task.dataset][answer == "attributable"] += 1
    return {
        system: [f"{own[True]}/{own.total()}" if own else None for own in of.values()]
        for system, of in found.items()
    }


def relations(given: TableInputs) -> dict[str, Counter[str]]:
    """Return by system, such as "Human - 256", how often people found each relation of a pair (V24
    Table 4).
    """
    names = {
        "attributable": "entailed",
        "not_attributable": "contradicted",
        "not_interpretable": "no_relation",
    }
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for task, answer in _answers("V24.T4", given, "relation"):
        if answer in names:
            found[task.system][names[answer]] += 1
    return found


def _kind(task: Task) -> str:
    """Return the kind of task: a summary has no conversation before it (R23 4.1.1)."""
    return "Conversational QA" if task.turns else "Summarization"


def _shares(number: str, tasks: Mapping[str, Task], given: Mapping[str, Answer | None]) -> Computed:
    """Return the shares by system, and which are significantly lower than the highest."""
    named = {i: t for i, t in tasks.items() if t.dataset.casefold() == DATASETS[number].casefold()}
    own = named or dict(tasks)
    answers = {i: a for i, a in given.items() if i in own}
    found = rows(own, answers)
    several = len({row.dataset for row in found}) > 1
    label = {
        (row.dataset, row.system): f"{row.dataset}: {row.system}" if several else row.system
        for row in found
    }
    measures = COLUMNS[number]
    table = {
        label[row.dataset, row.system]: [
            share(len(s.tasks), len(s.base)) for s in (row.shares[m] for m in measures)
        ]
        for row in found
    }
    notes = (
        []
        if named
        else [
            f"no task is of the data set {DATASETS[number]}: all tasks of the project are counted"
        ]
    )
    for d in differences(own, answers):
        if d.measure not in measures or d.p >= P:
            continue
        lower, higher = (
            (d.systems[0], d.systems[1]) if d.value < 0 else (d.systems[1], d.systems[0])
        )
        column = measures.index(d.measure)
        best = max(
            v
            for row in found
            if row.dataset == d.dataset and (v := row.shares[d.measure].value) is not None
        )
        top = (
            next(r for r in found if (r.dataset, r.system) == (d.dataset, higher))
            .shares[d.measure]
            .value
        )
        if top == best:
            notes.append(
                f"{label[d.dataset, lower]}: {COLUMNS[number][column]} is significantly lower (p < {P:g})"
            )
    return Computed(table, notes=tuple(dict.fromkeys(notes)))


def _agreement(
    tasks: Mapping[str, Task], judged: Sequence[Annotation]
) -> dict[str, Sequence[Cell]]:
    found: dict[str, Sequence[Cell]] = {}
    for dataset in dict.fromkeys(tasks[j.task_id].dataset for j in judged):
        one = agreement([j for j in judged if tasks[j.task_id].dataset == dataset])
        found[dataset or "not named"] = (one.pairwise, one.alpha)
    return found


def _audit(
    tasks: Mapping[str, Task], judged: Sequence[Annotation], audits: Sequence[Annotation]
) -> dict[str, Sequence[Cell]]:
    """Return judgements that are not flagged, the share that a lead looked at, and the share that
    he found right.
    """
    found: dict[str, Sequence[Cell]] = {}
    for kind in ("Conversational QA", "Summarization"):
        own = [
            j for j in judged if _kind(tasks[j.task_id]) == kind and j.content.answer != "flagged"
        ]
        looked = audited(own, [a for a in audits if _kind(tasks[a.task_id]) == kind])
        both, sampled = (len(looked[0].both), len(looked[0].tasks)) if looked else (0, 0)
        found[kind] = (len(own), share(sampled, len(own), 2), share(both, sampled, 2))
    return found


def _times(
    tasks: Mapping[str, Task], judged: Sequence[Annotation], pilot: set[str]
) -> dict[str, Sequence[Cell]]:
    """Return the number of judgements and their mean seconds in each stage."""
    found: dict[str, Sequence[Cell]] = {}
    by_period = periods(judged, pilot)
    for period, stage in STAGES.items():
        cells: list[Cell] = []
        for kind in ("Conversational QA", "Summarization"):
            seconds = [
                sum(j.content.seconds)
                for j in by_period["", period]
                if _kind(tasks[j.task_id]) == kind
            ]
            cells += [len(seconds), round(fmean(seconds), 2) if seconds else None]
        found[stage] = cells
    return found
