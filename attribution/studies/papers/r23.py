"""The tables of R23, and the human rows of V24, from an annotation project."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from attribution.errors import BadInput
from attribution.files import Cell
from attribution.store.store import Store
from attribution.studies.annotation.figures import (
    PERIODS,
    Measure,
    agreement,
    audited,
    periods,
    share,
)
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Annotation, Answer, by_task, decided, finished
from attribution.studies.annotation.tasks import FORMS, PROPERTIES, Form, Task
from attribution.studies.papers.reproduce import Computed, ComputedRow, Steps, TableInputs, percent

DATASETS = {"T3": "QReCC", "T4": "WoW", "T5": "CNN/DM"}
MEASURES: dict[str, tuple[Measure, ...]] = {
    "T3": ("interpretable", "attributable"),
    "T4": ("flagged", "interpretable", "attributable"),
    "T5": ("interpretable", "attributable"),
}
STAGES = dict(zip(PERIODS, ("Pilot", "Production Start", "Production Finish"), strict=True))
KINDS = ("Conversational QA", "Summarization")
PEOPLE = "people"


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table of a project. Raises BadInput without one."""
    yield from ()
    study = _Study.open(f"R23.{number}", inputs)
    if number in MEASURES:
        return study.shares(number)
    if number == "T6":
        return Computed(study.agreement())
    return Computed(study.audit() if number == "T7" else study.times())


@dataclass(frozen=True)
class _Study:
    """A project: its tasks, all records, and the tasks that everybody judges first."""

    tasks: Mapping[str, Task]
    records: Sequence[Annotation]
    pilot: Collection[str]

    @classmethod
    def open(cls, number: str, inputs: TableInputs, form: Form | None = None) -> _Study:
        annotations = Annotations(Store.open(inputs.settings.database_url).database)
        projects = {p.name: p for p in annotations.projects() if form in (None, p.form)}
        if inputs.project not in projects:
            of_form = f" of the form “{FORMS[form]}”" if form else ""
            known = ", ".join(projects) or "none"
            raise BadInput(
                f"{number} needs an annotation project{of_form}: --project NAME, one of: {known}"
            )
        project = projects[inputs.project]
        pilot = annotations.work(project).pilot
        return cls(annotations.tasks(project.id), annotations.judgements(project.id), pilot)

    @property
    def judgements(self) -> list[Annotation]:
        """Those that count, without the pilot's."""
        return [j for j in finished(self.records) if j.task_id not in self.pilot]

    def answers(self) -> dict[str, Answer | None]:
        """Return the answer of most annotators, or of who adjudicated, by task."""
        adjudicated = {j.task_id: j for j in finished(self.records, "adjudication")}
        return decided(by_task(self.judgements), adjudicated)

    def of_kind(self, judgements: Iterable[Annotation], kind: str) -> list[Annotation]:
        """Return those of tasks with a conversation, or of summaries (R23 4.1.1)."""
        has_turns = kind == KINDS[0]
        return [j for j in judgements if bool(self.tasks[j.task_id].turns) is has_turns]

    def shares(self, number: str) -> Computed:
        """Return the shares of each system on the table's data set, or on all."""
        answers = self.answers()
        name = DATASETS[number].casefold()
        named = [i for i in answers if self.tasks[i].dataset.casefold() == name]
        systems: dict[str, list[str]] = defaultdict(list)
        for task_id in named or answers:
            systems[self.tasks[task_id].system].append(task_id)
        rows: list[ComputedRow] = []
        for system, tasks in sorted(systems.items()):
            shares = [share(tasks, answers, measure) for measure in MEASURES[number]]
            cells = [percent(len(one.tasks), len(one.base)) for one in shares]
            rows.append(ComputedRow(system, PEOPLE, cells))
        note = f"no task is of the data set {DATASETS[number]}: all tasks are counted"
        return Computed(rows, () if named else (note,))

    def agreement(self) -> list[ComputedRow]:
        datasets: dict[str, list[Annotation]] = defaultdict(list)
        for judgement in self.judgements:
            datasets[self.tasks[judgement.task_id].dataset].append(judgement)
        rows: list[ComputedRow] = []
        for dataset, judgements in datasets.items():
            found = agreement(judgements)
            rows.append(ComputedRow(dataset or "not named", PEOPLE, (found.pairwise, found.alpha)))
        return rows

    def audit(self) -> list[ComputedRow]:
        """Return unflagged judgements, the share audited, and the share found right."""
        rows: list[ComputedRow] = []
        for kind in KINDS:
            judged = self.of_kind(finished(self.records), kind)
            judged = [j for j in judged if j.content.answer != "flagged"]
            audits = self.of_kind(finished(self.records, "audit"), kind)
            total = next(iter(audited(judged, audits)), None)
            sampled, right = (len(total.tasks), len(total.both)) if total else (0, 0)
            cells = (len(judged), percent(sampled, len(judged)), percent(right, sampled))
            rows.append(ComputedRow(kind, PEOPLE, cells))
        return rows

    def times(self) -> list[ComputedRow]:
        """Return the number of judgements and their mean seconds in each stage."""
        by_period = periods(finished(self.records), self.pilot)
        rows: list[ComputedRow] = []
        for period, stage in STAGES.items():
            cells: list[Cell] = []
            for kind in KINDS:
                judged = self.of_kind(by_period.get(("", period), ()), kind)
                seconds = [sum(j.content.seconds) for j in judged]
                cells += [len(seconds), fmean(seconds) if seconds else None]
            rows.append(ComputedRow(stage, PEOPLE, cells))
        return rows


def properties(inputs: TableInputs) -> list[ComputedRow]:
    """Return by segmenter how many judged claims have each of five properties (V24 Table 2)."""
    study = _Study.open("V24.T2", inputs, "property")
    systems: dict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
    for task_id, answer in study.answers().items():
        task = study.tasks[task_id]
        if answer in ("attributable", "not_interpretable"):
            systems[task.system][task.dataset, answer == "attributable"] += 1
    rows: list[ComputedRow] = []
    for system, counts in systems.items():
        totals = {name: counts[name, True] + counts[name, False] for name in PROPERTIES}
        cells = [f"{counts[name, True]}/{n}" if n else None for name, n in totals.items()]
        rows.append(ComputedRow(system, PEOPLE, cells))
    return rows


def relations(inputs: TableInputs) -> dict[str, Counter[str]]:
    """Return how often people found each relation of a pair, by row of V24 Table 4."""
    study = _Study.open("V24.T4", inputs, "relation")
    names: dict[Answer | None, str] = {
        "attributable": "entailed",
        "not_attributable": "contradicted",
        "not_interpretable": "no_relation",
    }
    systems: dict[str, Counter[str]] = defaultdict(Counter)
    for task_id, answer in study.answers().items():
        if answer in names:
            systems[study.tasks[task_id].system][names[answer]] += 1
    return systems
