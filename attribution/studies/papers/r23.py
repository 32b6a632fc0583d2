"""The tables of R23, and the human rows of V24, from an annotation project."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from attribution.errors import BadInput
from attribution.files import Cell
from attribution.store.store import Store
from attribution.studies.annotation.figures import Measure, agreement, audited, paces, share
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
STAGES = {"pilot": "Pilot", "start": "Production Start", "end": "Production Finish"}
KINDS = {"Conversational QA": True, "Summarization": False}  # does a task have turns? (R23 4.1.1)
RELATIONS = {
    "attributable": "entailed",
    "not_attributable": "contradicted",
    "not_interpretable": "no_relation",
}
PEOPLE = "people"


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table of a project. Raises BadInput without one."""
    yield from ()
    study = _Study.open(f"R23.{number}", inputs)
    if number in MEASURES:
        return study.shares(number)
    tables = {"T6": study.agreement, "T7": study.audit, "T8": study.times}
    return Computed(tables[number]())


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
            problem = f"{number} needs an annotation project{of_form}: --project NAME"
            raise BadInput(f"{problem}, one of: {known}")
        project = projects[inputs.project]
        pilot = annotations.work(project).pilot
        return cls(annotations.tasks(project.id), annotations.judgements(project.id), pilot)

    @property
    def judgements(self) -> list[Annotation]:
        """Those that count, without the pilot's."""
        return [j for j in finished(self.records) if j.task_id not in self.pilot]

    def answers(self) -> list[tuple[Task, Answer | None]]:
        """Return each task with the answer of most annotators, or of who adjudicated."""
        adjudicated = {j.task_id: j for j in finished(self.records, "adjudication")}
        answers = decided(by_task(self.judgements), adjudicated)
        return [(self.tasks[task_id], answer) for task_id, answer in answers.items()]

    def of_kind(self, judgements: Iterable[Annotation], kind: str) -> list[Annotation]:
        return [j for j in judgements if bool(self.tasks[j.task_id].turns) is KINDS[kind]]

    def shares(self, number: str) -> Computed:
        """Return the shares of each system on the table's data set, or on all."""
        answers = self.answers()
        name = DATASETS[number]
        named = [one for one in answers if one[0].dataset.casefold() == name.casefold()]
        systems: dict[str, list[Answer | None]] = defaultdict(list)
        for task, answer in named or answers:
            systems[task.system].append(answer)
        rows: list[ComputedRow] = []
        for system, own in sorted(systems.items()):
            cells = [share(own, measure).percent for measure in MEASURES[number]]
            rows.append(ComputedRow(system, PEOPLE, cells))
        note = f"no task is of the data set {name}: all tasks are counted"
        return Computed(rows, () if named else (note,))

    def agreement(self) -> list[ComputedRow]:
        datasets: dict[str, list[Annotation]] = defaultdict(list)
        for judgement in self.judgements:
            datasets[self.tasks[judgement.task_id].dataset or "not named"].append(judgement)
        rows: list[ComputedRow] = []
        for dataset, judgements in datasets.items():
            found = agreement(judgements)
            rows.append(ComputedRow(dataset, PEOPLE, (found.pairwise, found.alpha)))
        return rows

    def audit(self) -> list[ComputedRow]:
        """Return unflagged judgements, the share audited, and the share found right."""
        unflagged = [j for j in finished(self.records) if j.content.answer != "flagged"]
        audits = finished(self.records, "audit")
        rows: list[ComputedRow] = []
        for kind in KINDS:
            judged = self.of_kind(unflagged, kind)
            total = next(iter(audited(judged, audits)), None)
            sampled, equal = (total.judgements, total.equal) if total else (0, 0)
            cells = (len(judged), percent(sampled, len(judged)), percent(equal, sampled))
            rows.append(ComputedRow(kind, PEOPLE, cells))
        return rows

    def times(self) -> list[ComputedRow]:
        """Return the number of judgements and their mean seconds in each stage."""
        cells: dict[str, list[Cell]] = {period: [] for period in STAGES}
        for kind in KINDS:
            measured = paces(self.of_kind(finished(self.records), kind), self.pilot)
            by_period = {pace.period: pace for pace in measured if not pace.annotator}
            for period, own in cells.items():
                pace = by_period.get(period)
                own += [pace.judgements, pace.seconds] if pace else [0, None]
        return [ComputedRow(STAGES[period], PEOPLE, own) for period, own in cells.items()]


def properties(inputs: TableInputs) -> list[ComputedRow]:
    """Return by segmenter how many judged claims have each of five properties (V24 Table 2)."""
    systems: dict[str, dict[str, list[Answer | None]]] = {}
    for task, answer in _Study.open("V24.T2", inputs, "property").answers():
        if answer in ("attributable", "not_interpretable"):
            system = systems.setdefault(task.system, {name: [] for name in PROPERTIES})
            system[task.dataset].append(answer)
    rows: list[ComputedRow] = []
    for name, own in systems.items():
        counted = [(judged.count("attributable"), len(judged)) for judged in own.values()]
        cells = [f"{part}/{whole}" if whole else None for part, whole in counted]
        rows.append(ComputedRow(name, PEOPLE, cells))
    return rows


def relations(inputs: TableInputs) -> dict[str, Counter[str]]:
    """Return how often people found each relation of a pair, by row of V24 Table 4."""
    systems: dict[str, Counter[str]] = defaultdict(Counter)
    for task, answer in _Study.open("V24.T4", inputs, "relation").answers():
        if answer in RELATIONS:
            systems[task.system][RELATIONS[answer]] += 1
    return systems
