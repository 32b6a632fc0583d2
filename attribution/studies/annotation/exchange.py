"""Write and merge project files, and turn people's decisions into a labelled set.

Records are only ever added, and their ids are hashes of their content: the order of imports makes
no difference, and importing twice changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from attribution.errors import BadInput
from attribution.files import Row, parse_rows
from attribution.pipeline.experiment import Fields
from attribution.studies.annotation.project import Annotations, Member, StageChange
from attribution.studies.annotation.records import Annotation, Answer
from attribution.studies.annotation.tasks import Project, Task, first_error, identity
from attribution.types import Frozen

KINDS: dict[str, type[Frozen]] = {
    "project": Project,
    "member": Member,
    "stage": StageChange,
    "task": Task,
    "judgement": Annotation,
}
_NAMES = {kind: name for name, kind in KINDS.items()}


@dataclass(frozen=True)
class Imported:
    """What an import added, and the problems of the other records, each with its line."""

    project: Project
    tasks: int
    judgements: int
    problems: tuple[str, ...]


def _records(store: Annotations, project: Project) -> Iterable[Frozen]:
    """Yield all records of a project, always in the same order."""
    yield project
    yield from store.events(project.id)
    yield from store.tasks(project.id, sources=True).values()
    yield from store.judgements(project.id)


def to_jsonl(store: Annotations, project: Project) -> str:
    """Return the project as JSON Lines."""
    lines: list[str] = []
    for record in _records(store, project):
        fields = {"kind": _NAMES[type(record)], **record.model_dump(mode="json")}
        lines.append(json.dumps(fields, ensure_ascii=False) + "\n")
    return "".join(lines)


def merge(store: Annotations, content: bytes) -> Imported:
    """Add the records of a file to the database; a bad record is skipped alone.

    Raises:
        BadInput: The file has no project, or its project exists with other settings.
    """
    problems: list[str] = []
    records: list[tuple[int, Frozen]] = []
    for row in parse_rows(content, ["kind"]):
        try:
            records.append((row.line, _record(row)))
        except BadInput as error:
            problems.append(f"line {row.line}: {error}")
    project = _only_project([record for _, record in records], problems)
    store.put_project(project)
    events = [record for _, record in records if isinstance(record, Member | StageChange)]
    store.put_events(project.id, events)
    tasks: list[Task] = []
    for line, record in records:
        if not isinstance(record, Task):
            continue
        if record.project_id == project.id and record.id == identity(record):
            tasks.append(record)
        else:
            problems.append(f"line {line}: its id doesn't fit its content: it was changed by hand")
    added = store.add_tasks(tasks)
    known = set(store.task_ids(project.id))
    judgements: list[Annotation] = []
    for line, record in records:
        if not isinstance(record, Annotation):
            continue
        if record.task_id in known:
            judgements.append(record)
        else:
            problems.append(f"line {line}: its task is not in the file")
    return Imported(project, added, store.put_judgements(project.id, judgements), tuple(problems))


def _only_project(records: Iterable[Frozen], problems: list[str]) -> Project:
    projects = {record.id: record for record in records if isinstance(record, Project)}
    if len(projects) != 1:
        first = f"; {problems[0]}" if problems else ""
        raise BadInput(
            f"the file has {len(projects)} projects; expected the export of one project{first}"
        )
    return next(iter(projects.values()))


def _record(row: Row) -> Frozen:
    if row.error:
        raise BadInput(row.error)
    fields = dict(row.fields)
    kind = str(fields.pop("kind"))
    if kind not in KINDS:
        raise BadInput(f'"kind" is {kind[:40]!r}; expected one of {", ".join(KINDS)}')
    try:
        return KINDS[kind].model_validate(fields)
    except ValidationError as error:
        raise BadInput(first_error(error)) from None


def labelled_set(tasks: Mapping[str, Task], answers: Mapping[str, Answer | None]) -> str:
    """Return the decisions as JSON Lines in the format of the benchmark.

    `grounded` is true if people judged it attributable. Flagged, undecided and uninterpretable
    tasks are left out. `context` is the source, `turns` the conversation before the question.
    """
    lines: list[str] = []
    for task_id, answer in sorted(answers.items()):
        if answer in ("attributable", "not_attributable"):
            row = _labelled_row(tasks[task_id], answer == "attributable")
            lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return "".join(lines)


def _labelled_row(task: Task, is_grounded: bool) -> Fields:
    turns = list(task.turns)
    question = turns.pop().text if turns and turns[-1].speaker == "user" else ""
    optional: Fields = {
        "system": task.system,
        "dataset": task.dataset,
        "turns": [turn.model_dump() for turn in turns],
    }
    return {
        "id": task.id,
        "group": task.item,  # answers of several systems to one item stay in one split
        "question": question,
        "context": task.source,
        "response": task.answer,
        "grounded": is_grounded,
        **{name: value for name, value in optional.items() if value},
    }
