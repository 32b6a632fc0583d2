"""Write the records of a project, and turn people's decisions into a labelled set."""

from __future__ import annotations

import json
from collections.abc import Mapping

from attribution.pipeline.experiment import Fields
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Answer
from attribution.studies.annotation.tasks import Project, Task
from attribution.types import Frozen


def to_jsonl(store: Annotations, project: Project) -> str:
    """Return the project as JSON Lines: its settings, people, tasks and judgements."""
    kinds: dict[str, list[Frozen]] = {
        "project": [project],
        "event": [*store.events(project.id)],
        "task": [*store.tasks(project.id, sources=True).values()],
        "judgement": [*store.judgements(project.id)],
    }
    lines: list[str] = []
    for kind, records in kinds.items():
        for record in records:
            fields = {"kind": kind, **record.model_dump(mode="json")}
            lines.append(json.dumps(fields, ensure_ascii=False) + "\n")
    return "".join(lines)


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
    return {
        "id": task.id,
        "group": task.item,  # answers of several systems to one item stay in one split
        "question": question,
        "turns": [turn.model_dump() for turn in turns],
        "context": task.source,
        "response": task.answer,
        "grounded": is_grounded,
    }
