"""Write and merge project files, and turn people's decisions into a labelled set.

Records are only ever added, and their ids are hashes of their content: the order of imports makes no difference, and
importing twice changes nothing.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from attribution.errors import BadInput
from attribution.files import FORMULA, check_lines, parse_json, parse_rows
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations, Event, Member, StageChange
from attribution.studies.annotation.records import Answer, Content, Judgement
from attribution.studies.annotation.tasks import Project, Task, identity
from attribution.types import Frozen, content_id

Record = dict[str, Any]


def _flat(name: str, field: FieldInfo) -> list[tuple[str, bool]]:
    """Return the columns of a field, and True for those written as plain text; the others are JSON."""
    if name == "content":
        return [column for own in Content.model_fields.items() for column in _flat(*own)]
    return [(name, field.annotation is str or get_origin(field.annotation) is Literal)]


KINDS: dict[str, type[Frozen]] = {
    "project": Project,
    "member": Member,
    "stage": StageChange,
    "task": Task,
    "judgement": Judgement,
}
_FIELDS = {  # the fields of each kind in CSV, where a judgement's content has its own columns
    kind: {k: v for name, field in model.model_fields.items() for k, v in _flat(name, field)}
    for kind, model in KINDS.items()
}
_SHOWN = ("answer", "system", "dataset")  # fields of the task, repeated beside its judgements
_COLUMNS = tuple(dict.fromkeys(("kind", "outcome", *_SHOWN, *(n for k in reversed(_FIELDS) for n in _FIELDS[k]))))
_T = TypeVar("_T", bound=Frozen)


@dataclass(frozen=True)
class Merged:
    """The result of an import: what was added, and the problems of the other records, each with its line."""

    project: Project
    tasks: int
    judgements: int
    problems: tuple[str, ...]


def records(store: Annotations, project: Project) -> list[Record]:
    """Return all records of a project, always in the same order."""
    kinds: list[tuple[str, Iterable[Frozen]]] = [
        ("project", [project]),
        *((_kind(event), [event]) for event in store.events(project.id)),
        ("task", store.tasks(project.id, sources=True).values()),
        ("judgement", store.judgements(project.id)),
    ]
    return [{"kind": kind, **value.model_dump(mode="json")} for kind, values in kinds for value in values]


def _kind(event: Event) -> str:
    return "member" if isinstance(event, Member) else "stage"


def to_jsonl(store: Annotations, project: Project) -> str:
    """Return the project as JSON Lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records(store, project))


def to_csv(store: Annotations, project: Project) -> str:
    """Return the same records as CSV, guarded against formulas in spreadsheets.

    A judgement's row repeats the answer, system and data set of its task and states the outcome in a word, so that it
    can be read alone; an import ignores these columns.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, restval="", extrasaction="raise")
    writer.writeheader()
    tasks: dict[str, Record] = {}
    for record in records(store, project):
        kind = record.pop("kind")
        record |= record.pop("content", {})
        row = {
            name: str(record[name]) if text else json.dumps(record[name], ensure_ascii=False)
            for name, text in _FIELDS[kind].items()
            if record[name] is not None
        }
        if kind == "task":
            tasks[record["id"]] = {name: row[name] for name in _SHOWN}
        if kind == "judgement":
            content = Content.model_validate({name: record[name] for name in Content.model_fields})
            row |= tasks.get(record["task_id"], {}) | {"outcome": content.answer or ""}
        writer.writerow({"kind": kind} | {name: _guarded(text) for name, text in row.items()})
    return out.getvalue()


def _guarded(text: str) -> str:
    """Put an apostrophe before text that would start a formula or starts with one, so that it can be removed again."""
    first = next((c for c in text if c.isprintable() and not c.isspace()), "")
    return f"'{text}" if first in FORMULA or text[:1] in ("'", "\t", "\r") else text


def _unguarded(text: str) -> str:
    return text[1:] if text.startswith("'") else text


def _csv_records(content: bytes) -> list[tuple[int, Record | str]]:
    check_lines(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 (byte {error.start}): save the file as CSV in UTF-8") from None
    csv.field_size_limit(2**31 - 1)
    found: list[tuple[int, Record | str]] = []
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            found.append((reader.line_num, _from_row(row)))
    except csv.Error as error:
        found.append((reader.line_num, f"not CSV ({error})"))
    return found


def _from_row(row: Mapping[str | None, Any]) -> Record | str:
    kind = row.get("kind")
    if kind not in KINDS:
        return f'"kind" is {str(kind)[:40]!r}; expected one of {", ".join(KINDS)}'
    record: Record = {}
    for name, is_text in _FIELDS[kind].items():
        if not (written := row.get(name)):  # every field that may be empty has "" as its default
            continue
        text = _unguarded(written)
        try:
            record[name] = text if is_text else parse_json(text)
        except ValueError:
            return f'"{name}" is {text[:40]!r}, which is not JSON'
    if kind == "judgement":
        record["content"] = {name: record.pop(name) for name in Content.model_fields if name in record}
    return {"kind": kind, **record}


def merge(store: Annotations, content: bytes, is_csv: bool = False) -> Merged:
    """Add the records of a file to the database; a bad record is skipped alone.

    Raises BadInput for a file without a project, and for one whose project exists with other settings.
    """
    lines = _csv_records(content) if is_csv else [(r.line, r.error or r.fields) for r in parse_rows(content, ["kind"])]
    problems: list[str] = []
    values: list[tuple[int, Frozen]] = []
    for line, record in lines:
        value = record if isinstance(record, str) else _value(record)
        if isinstance(value, str):
            problems.append(f"line {line}: {value}")
        else:
            values.append((line, value))
    projects = [value for _, value in values if isinstance(value, Project)]
    if len({project.id for project in projects}) != 1:
        found = f"{len(projects)} projects" if projects else "no project"
        first = f"; {problems[0]}" if problems else ""
        raise BadInput(f"the file has {found}; expected the export of one project{first}")
    project = projects[0]
    store.put_project(project)
    store.put_events(project.id, [value for _, value in values if isinstance(value, (Member, StageChange))])
    tasks = _fitting(values, Task, lambda task: _task_problem(task, project), problems)
    new_tasks = store.add_tasks(tasks)
    known = set(store.task_ids(project.id))
    judgements = _fitting(
        values, Judgement, lambda j: "" if j.task_id in known else "its task is not in the file", problems
    )
    new = store.put_judgements(project.id, judgements)
    return Merged(project, new_tasks, new, tuple(problems))


def _value(record: Record) -> Frozen | str:
    kind = record.get("kind")
    if kind not in KINDS:
        return f'"kind" is {str(kind)[:40]!r}; expected one of {", ".join(KINDS)}'
    try:
        return KINDS[kind].model_validate({name: value for name, value in record.items() if name != "kind"})
    except ValidationError as error:
        first = error.errors()[0]
        return f"“{'.'.join(map(str, first['loc']))}”: {first['msg']}"


def _fitting(
    values: Iterable[tuple[int, Frozen]], kind: type[_T], problem: Callable[[_T], str], problems: list[str]
) -> list[_T]:
    fitting = []
    for line, value in values:
        if isinstance(value, kind):
            if reason := problem(value):
                problems.append(f"line {line}: {reason}")
            else:
                fitting.append(value)
    return fitting


def _task_problem(task: Task, project: Project) -> str:
    if task.project_id != project.id:
        return "it belongs to another project"
    return "" if task.id == identity(task) else "its id does not belong to its content: it was changed by hand"


ERROR_TYPES = "annotation_error_types"  # the kind of result
_TYPES = TypeAdapter(dict[str, str])


def error_types(store: Store, project_id: str) -> dict[str, str]:
    """Return the error types set by hand, by task. They stay in this database: exports do not include them."""
    body = store.load_result(ERROR_TYPES, project_id)
    return {} if body is None else _TYPES.validate_json(body)


def put_error_type(store: Store, project_id: str, task_id: str, name: str) -> None:
    """Set the error type of a task; an empty one removes it."""
    known = error_types(store, project_id) | {task_id: name}
    store.save_result(ERROR_TYPES, project_id, json.dumps({k: v for k, v in known.items() if v}), shared=True)


def labelled_set(tasks: Mapping[str, Task], answers: Mapping[str, Answer | None], types: Mapping[str, str]) -> str:
    """Return the decisions as JSON Lines in the format of the benchmark.

    `grounded` is true if people judged it attributable. Flagged, undecided and uninterpretable tasks are left out. The
    sentences of one response make one row with `sentences`, once the label of the whole is known: if one of them is
    not grounded, or all are. `context` is the source, `turns` the conversation before the question.
    """
    rows: list[dict[str, Any]] = []
    together: dict[str, list[Task]] = {}
    for task_id, answer in sorted(answers.items()):
        if answer not in ("attributable", "not_attributable"):
            continue
        task = tasks[task_id]
        if task.unit == "sentence" and task.turns and task.answer in task.turns[-1].text:
            spoken = (part for turn in task.turns for part in (turn.speaker, turn.text))
            together.setdefault(content_id(task.system, task.dataset, *spoken), []).append(task)
        rows.append(_row(task, task.answer, [task.source], answer == "attributable", types.get(task_id, "")))
    for key, group in together.items():
        if made := _response(key, group, answers, types):
            own = {task.id for task in group}
            rows = [row for row in rows if row["id"] not in own] + [made]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _row(task: Task, response: str, context: list[str], grounded: bool, error_type: str) -> dict[str, Any]:
    asked = bool(task.turns) and task.turns[-1].speaker == "user"
    turns = task.turns[:-1] if asked else task.turns
    row: dict[str, Any] = {
        "id": task.id,
        "group": task.item,  # answers of several systems to one item stay in one split
        "question": task.turns[-1].text if asked else "",
        "context": context[0] if len(context) == 1 else context,
        "response": response,
        "grounded": grounded,
    }
    more = {"error_type": "" if grounded else error_type, "system": task.system, "dataset": task.dataset}
    said = [turn.model_dump() for turn in turns]
    return row | {name: value for name, value in (more | {"turns": said}).items() if value}


def _response(
    key: str, group: list[Task], answers: Mapping[str, Answer | None], types: Mapping[str, str]
) -> dict[str, Any] | None:
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
        asked, whole, list(dict.fromkeys(t.source for t in group)), not wrong, named[0] if len(set(named)) == 1 else ""
    )
    return row | {"sentences": [{"text": t.answer, "grounded": answers[t.id] == "attributable"} for t in group]}
