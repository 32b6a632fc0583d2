"""What people decided, as a labelled set for the benchmark of groundedness methods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from attribution.evaluation.ais.judgements import Answer
from attribution.evaluation.ais.tasks import Task
from attribution.storage.store import Store
from attribution.types import content_id

ERROR_TYPES = "annotation_error_types"  # the kind of result
_TYPES = TypeAdapter(dict[str, str])


def error_types(store: Store, project_id: str) -> dict[str, str]:
    """The types of errors that were given by hand, by task. They stay in this database: exports do not hold them."""
    body = store.load_result(ERROR_TYPES, project_id)
    return {} if body is None else _TYPES.validate_json(body)


def put_error_type(store: Store, project_id: str, task_id: str, name: str) -> None:
    """Give a task its type; an empty one takes it away."""
    known = error_types(store, project_id) | {task_id: name}
    store.save_result(ERROR_TYPES, project_id, json.dumps({k: v for k, v in known.items() if v}), shared=True)


def labelled_set(tasks: Mapping[str, Task], answers: Mapping[str, Answer | None], types: Mapping[str, str]) -> str:
    """JSON Lines in the form that the benchmark reads.

    `grounded` is whether people called it attributable. Flagged, undecided and uninterpretable tasks are left out. The
    sentences of one response make one row with `sentences`, once it is known whether the whole is grounded: where one
    of them is not, or all are. `context` is the source, `turns` the conversation before the question.
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
    """The row of a whole response; None while it is not known whether it is grounded."""
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
