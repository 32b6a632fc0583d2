"""Write and merge project files, and turn people's decisions into a labelled set.

Records are only ever added, and their ids are hashes of their content: the order of imports makes
no difference, and
importing twice changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from attribution.errors import BadInput
from attribution.files import parse_rows
from attribution.pipeline.experiment import Fields
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations, Member, StageChange
from attribution.studies.annotation.records import Annotation, Answer
from attribution.studies.annotation.tasks import Project, Task, identity
from attribution.types import Frozen, content_id

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
    """The result of an import: what was added, and the problems of the other records, each with its
    line.
    """

    project: Project
    tasks: int
    judgements: int
    problems: tuple[str, ...]


def _values(store: Annotations, project: Project) -> Iterable[Frozen]:
    """Yield all records of a project, always in the same order."""
    yield project
    yield from store.events(project.id)
    yield from store.tasks(project.id, sources=True).values()
    yield from store.judgements(project.id)


def _record(value: Frozen) -> Fields:
    return {"kind": _NAMES[type(value)], **value.model_dump(mode="json")}


def to_jsonl(store: Annotations, project: Project) -> str:
    """Return the project as JSON Lines."""
    return "".join(
        json.dumps(_record(v), ensure_ascii=False) + "\n" for v in _values(store, project)
    )


def merge(store: Annotations, content: bytes) -> Imported:
    """Add the records of a file to the database; a bad record is skipped alone.

    Raises BadInput for a file without a project, and for one whose project exists with other
    settings.
    """
    problems: list[str] = []
    values: list[tuple[int, Frozen]] = []
    for row in parse_rows(content, ["kind"]):
        value = row.error or _value(row.fields)
        if isinstance(value, str):
            problems.append(f"line {row.line}: {value}")
        else:
            values.append((row.line, value))
    projects = [value for _, value in values if isinstance(value, Project)]
    if len({project.id for project in projects}) != 1:
        found = f"{len(projects)} projects" if projects else "no project"
        first = f"; {problems[0]}" if problems else ""
        raise BadInput(f"the file has {found}; expected the export of one project{first}")
    project = projects[0]
    store.put_project(project)
    store.put_events(
        project.id, [value for _, value in values if isinstance(value, Member | StageChange)]
    )
    tasks, judgements = list[Task](), list[Annotation]()
    for line, value in values:
        if isinstance(value, Task):
            if value.project_id == project.id and value.id == identity(value):
                tasks.append(value)
            else:
                problems.append(
                    f"line {line}: its id does not belong to its content: it was changed by hand"
                )
    added = store.add_tasks(tasks)
    known = set(store.task_ids(project.id))
    for line, value in values:
        if isinstance(value, Annotation):
            if value.task_id in known:
                judgements.append(value)
            else:
                problems.append(f"line {line}: its task is not in the file")
    return Imported(project, added, store.put_judgements(project.id, judgements), tuple(problems))


def _value(record: Mapping[str, object]) -> Frozen | str:
    kind = str(record["kind"])
    if kind not in KINDS:
        return f'"kind" is {kind[:40]!r}; expected one of {", ".join(KINDS)}'
    try:
        return KINDS[kind].model_validate(
            {name: value for name, value in record.items() if name != "kind"}
        )
    except ValidationError as error:
        first = error.errors()[0]
        return f"“{'.'.join(map(str, first['loc']))}”: {first['msg']}"


ERROR_TYPES = "annotation_error_types"  # the kind of result
_TYPES = TypeAdapter(dict[str, str])


def error_types(store: Store, project_id: str) -> dict[str, str]:
    """Return the error types set by hand, by task. They stay in this database: exports do not
    include them.
    """
    body = store.results.load(ERROR_TYPES, project_id)
    return {} if body is None else _TYPES.validate_json(body)


def put_error_type(store: Store, project_id: str, task_id: str, name: str) -> None:
    """Set the error type of a task; an empty one removes it."""
    known = error_types(store, project_id) | {task_id: name}
    store.results.save(
        ERROR_TYPES, project_id, json.dumps({k: v for k, v in known.items() if v}), shared=True
    )


def labelled_set(
    tasks: Mapping[str, Task], answers: Mapping[str, Answer | None], types: Mapping[str, str]
) -> str:
    """Return the decisions as JSON Lines in the format of the benchmark.

    `grounded` is true if people judged it attributable. Flagged, undecided and uninterpretable
    tasks are left out. The
    sentences of one response make one row with `sentences`, once the label of the whole is known:
    if one of them is
    not grounded, or all are. `context` is the source, `turns` the conversation before the question.
    """
    rows: list[Fields] = []
    together: dict[str, list[Task]] = {}
    for task_id, answer in sorted(answers.items()):
        if answer not in ("attributable", "not_attributable"):
            continue
        task = tasks[task_id]
        if task.unit == "sentence" and task.turns and task.answer in task.turns[-1].text:
            spoken = (part for turn in task.turns for part in (turn.speaker, turn.text))
            together.setdefault(content_id(task.system, task.dataset, *spoken), []).append(task)
        rows.append(
            _row(task, task.answer, [task.source], answer == "attributable", types.get(task_id, ""))
        )
    for key, group in together.items():
        if made := _response(key, group, answers, types):
            own = {task.id for task in group}
            rows = [row for row in rows if row["id"] not in own] + [made]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _row(task: Task, response: str, context: list[str], grounded: bool, error_type: str) -> Fields:
    asked = bool(task.turns) and task.turns[-1].speaker == "user"
    turns = task.turns[:-1] if asked else task.turns
    row: Fields = {
        "id": task.id,
        "group": task.item,  # answers of several systems to one item stay in one split
        "question": task.turns[-1].text if asked else "",
        "context": context[0] if len(context) == 1 else context,
        "response": response,
        "grounded": grounded,
    }
    more: Fields = {
        "error_type": "" if grounded else error_type,
        "system": task.system,
        "dataset": task.dataset,
    }
    more["turns"] = [turn.model_dump() for turn in turns]
    return row | {name: value for name, value in more.items() if value}


def _response(
    key: str, group: list[Task], answers: Mapping[str, Answer | None], types: Mapping[str, str]
) -> Fields | None:
    """Return the row of a whole response; None while its label is not known."""
    whole = group[0].turns[-1].text
    group = sorted(group, key=lambda task: whole.index(task.answer))
    wrong = [task for task in group if answers[task.id] == "not_attributable"]
    left = whole
    for task in group:
        left = left.replace(task.answer, "", 1)
    if not wrong and any(c.isalnum() for c in left):
        return None
    asked = group[0].model_copy(update={"id": key, "item": key, "turns": group[0].turns[:-1]})
    named = [name for task in wrong if (name := types.get(task.id))]
    row = _row(
        asked,
        whole,
        list(dict.fromkeys(t.source for t in group)),
        not wrong,
        named[0] if len(set(named)) == 1 else "",
    )
    return row | {
        "sentences": [
            {"text": t.answer, "grounded": answers[t.id] == "attributable"} for t in group
        ]
    }
