"""Small projects for tests."""

from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Answer, Content
from attribution.studies.annotation.tasks import Project, Task, TaskTurn, make_task

CONTENT: dict[Answer, Content] = {
    "flagged": Content(flags=("malformed",)),
    "not_interpretable": Content(interpretable=False),
    "not_attributable": Content(interpretable=True, attributable=False),
    "attributable": Content(interpretable=True, attributable=True),
}


def task(project: Project, number: int) -> Task:
    turns = [TaskTurn(speaker="user", text=f"Question {number}?")]
    source = f"The source of item {number}."
    return make_task(project.id, f"Answer {number}.", source, turns, system="a", dataset="d")


def filled(store: Annotations, tasks: int, names: str = "ann bob", **fields: object) -> Project:
    """A project of one system with so many tasks and these annotators."""
    project = store.create("Test", **fields)
    store.add_tasks([task(project, number) for number in range(tasks)])
    store.add_members(project.id, names.split())
    return project


def say(store: Annotations, project: Project, task_id: str, name: str, content: Content) -> str:
    """The next step of an annotator, after whatever was the last; the id of its record."""
    last = store.judgements(project.id, name, task_id)
    follows = last[-1].id if last else ""
    return store.step(project.id, task_id, name, "annotation", "production", content, follows).id
