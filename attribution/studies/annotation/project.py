"""Projects in the database, with settings, people, stages, tasks and judgements.

People judge in two stages whether a source supports an answer: AIS, attributable to identified
sources (R23).
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from pydantic import Field, TypeAdapter

from attribution.errors import BadInput
from attribution.pipeline.experiment import Fields
from attribution.store import database as t
from attribution.store.database import Database, least_size
from attribution.studies.annotation.records import (
    Annotation,
    Answer,
    Content,
    Position,
    Role,
    Stale,
    TaskPlace,
    current,
)
from attribution.studies.annotation.tasks import (
    MAX_NAME,
    Project,
    Stage,
    Task,
    audit_tasks,
    pilot_tasks,
    queue,
)
from attribution.text_files import json_line
from attribution.types import Frozen, content_id


def timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Member(Frozen):
    """Somebody who takes part, by name or code; a lead adjudicates and audits."""

    name: str = Field(min_length=1, max_length=MAX_NAME)
    lead: bool = False


class StageChange(Frozen):
    """The beginning of a stage."""

    stage: Stage
    at: str


Event = Member | StageChange
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class Annotations:
    """The projects of one database, safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _scalars(self, query: sa.Select[Any]) -> list[str]:
        """Return the only column of a query."""
        return [value for (value,) in self._database.all(query)]

    def _check_space(self) -> None:
        """Check how much all projects take; see `Database.check_space`."""
        texts = (t.annotation_tasks.c.source, t.annotation_judgements.c.body)
        sizes = [sa.select(sa.func.sum(sa.func.length(text))) for text in texts]
        sizes.append(least_size(t.annotation_projects))
        self._database.check_space("annotation projects", "ATTRIBUTION_SHARED_MB", *sizes)

    # --- projects, people, stages ---

    def create(self, name: str, **fields: object) -> Project:
        """Make a project with the fields of `Project`; it begins with the pilot if it has one.

        Raises:
            BadInput: The name is empty, too long or taken, or projects take too much of the disk.
        """
        self._check_space()
        name = " ".join(name.split())
        if not name or len(name) > MAX_NAME:
            raise BadInput(f"a project needs a name of at most {MAX_NAME} characters")
        if any(project.name == name for project in self.projects()):
            raise BadInput(f"there is a project {name!r} already: choose another name")
        made = {"id": secrets.token_hex(8), "name": name, "created_at": timestamp()}
        project = Project.model_validate({**fields, **made})
        row = {"id": project.id, "body": project.model_dump_json()}
        self._database.insert(t.annotation_projects, [row])
        return project

    def project(self, project_id: str) -> Project | None:
        row = self._database.rows(t.annotation_projects.c.id, [project_id]).get(project_id)
        return Project.model_validate_json(row.body) if row else None

    def projects(self) -> list[Project]:
        """All projects, by name."""
        bodies = self._scalars(sa.select(t.annotation_projects.c.body))
        projects = map(Project.model_validate_json, bodies)
        return sorted(projects, key=lambda project: (project.name, project.id))

    def put_events(self, project_id: str, events: Sequence[Event]) -> None:
        self._database.check_disk()
        bodies = [event.model_dump_json() for event in events]
        rows = [{"project_id": project_id, "id": content_id(body), "body": body} for body in bodies]
        self._database.insert(t.annotation_events, rows)

    def events(self, project_id: str) -> list[Event]:
        c = t.annotation_events.c
        bodies = self._scalars(sa.select(c.body).where(c.project_id == project_id))
        return [_EVENT.validate_json(body) for body in sorted(bodies)]

    def add_members(self, project_id: str, names: Iterable[str], lead: bool = False) -> list[str]:
        """Add people by name or code; return the names without needless spaces.

        Raises:
            BadInput: A name is too long.
        """
        trimmed = [" ".join(name.split()) for name in names]
        added = list(dict.fromkeys(name for name in trimmed if name))
        for name in added:
            if len(name) > MAX_NAME:
                raise BadInput(f"the name “{name[:40]}…” has more than {MAX_NAME} characters")
        self.put_events(project_id, [Member(name=name, lead=lead) for name in added])
        return added

    def begin_stage(self, project_id: str, stage: Stage) -> None:
        self.put_events(project_id, [StageChange(stage=stage, at=timestamp())])

    # --- tasks ---

    def add_tasks(self, tasks: Sequence[Task]) -> int:
        """Add tasks; return how many of them are new."""
        rows: dict[str, dict[str, object]] = {}
        for task in tasks:
            row = task.model_dump(include={"id", "project_id", "source"})
            rows[task.id] = row | {"body": task.model_dump_json(exclude={"source"})}
        known = self._database.rows(t.annotation_tasks.c.id, list(rows))
        new = [row for task_id, row in rows.items() if task_id not in known]
        self._check_space()
        self._database.insert(t.annotation_tasks, new)
        return len(new)

    def tasks(self, project_id: str, sources: bool = False) -> dict[str, Task]:
        """The tasks of a project by id, with their sources or without."""
        c = t.annotation_tasks.c
        source = c.source if sources else sa.literal("")
        query = sa.select(c.body, source).where(c.project_id == project_id).order_by(c.id)
        tasks: dict[str, Task] = {}
        for body, text in self._database.all(query):
            task = Task.model_validate_json(body).model_copy(update={"source": text})
            tasks[task.id] = task
        return tasks

    def task_ids(self, project_id: str) -> list[str]:
        c = t.annotation_tasks.c
        return self._scalars(sa.select(c.id).where(c.project_id == project_id).order_by(c.id))

    def task(self, task_id: str) -> Task | None:
        """A task with its source."""
        row = self._database.rows(t.annotation_tasks.c.id, [task_id]).get(task_id)
        if row is None:
            return None
        return Task.model_validate_json(row.body).model_copy(update={"source": row.source})

    # --- judgements ---

    def judgements(
        self, project_id: str, annotator: str = "", task_id: str = ""
    ) -> list[Annotation]:
        """Return the records of a project, optionally of one annotator or about one task."""
        c = t.annotation_judgements.c
        query = sa.select(c.body).where(c.project_id == project_id)
        if annotator:
            query = query.where(c.annotator == annotator)
        if task_id:
            query = query.where(c.task_id == task_id)
        bodies = self._scalars(query.order_by(c.made_at, c.id))
        return [Annotation.model_validate_json(body) for body in bodies]

    def step(
        self,
        project_id: str,
        task_id: str,
        annotator: str,
        role: Role,
        stage: Stage,
        content: Content,
        follows: str,
    ) -> Annotation:
        """Save an annotator's next step in a task. The same step sent again returns the saved one.

        Args:
            follows: The id of their last record; empty for none.

        Raises:
            Stale: Another step was saved in the meantime.
            StoreError: The disk is nearly full.
        """
        self._database.check_disk()
        with self._database.transaction() as db:
            of_task = self.judgements(project_id, annotator, task_id)
            records = [record for record in of_task if record.role == role]
            for record in records:
                if record.follows == follows and record.content == content:
                    return record
            last = next(iter(current(records).values()), None)
            if follows != (last.id if last else ""):
                raise Stale(
                    "This task was answered in another window. What was saved there is shown."
                )
            made = Annotation(
                task_id=task_id,
                annotator=annotator,
                role=role,
                revision=last.revision + 1 if last else 1,
                made_at=timestamp(),
                stage=stage,
                follows=follows,
                content=content,
            )
            db.execute(t.annotation_judgements.insert(), _row(project_id, made))
            return made

    def undo(
        self, project_id: str, annotator: str, role: Role, queue: Collection[str]
    ) -> Annotation | None:
        """Take back this annotator's last answer to a task of the queue; None if there is none.

        Raises:
            Stale: Another step was saved in the meantime.
        """
        judgements = self.judgements(project_id, annotator)
        records = [r for r in judgements if r.role == role and r.task_id in queue]
        begun = [record for record in current(records).values() if record.content.is_begun]
        if not begun:
            return None
        last = max(begun, key=lambda record: record.made_at)
        content = last.content.reopened()
        return self.step(project_id, last.task_id, annotator, role, last.stage, content, last.id)

    def positions(self, project_id: str) -> list[Position]:
        """Return the progress of all annotators, without reading their judgements."""
        c = t.annotation_judgements.c
        query = sa.select(c.task_id, c.annotator, c.role, c.answer).where(
            c.project_id == project_id
        )
        order = (c.revision, c.made_at)  # as in `current`
        last: dict[TaskPlace, str] = {}
        for task, name, role, answer in self._database.all(query.order_by(*order)):
            last[TaskPlace(task, name, role)] = answer
        return [Position(*place, finished=bool(answer)) for place, answer in last.items()]

    # --- the project at one moment ---

    def work(self, project: Project) -> ProjectWork:
        """The members, the stage, and everybody's progress."""
        events = self.events(project.id)
        members = [event for event in events if isinstance(event, Member)]
        changes = [(event.at, event.stage) for event in events if isinstance(event, StageChange)]
        stage: Stage = max(changes)[1] if changes else "pilot" if project.pilot else "production"
        annotators, leads = (
            tuple(sorted({m.name for m in members if m.lead == lead})) for lead in (False, True)
        )
        return ProjectWork(
            project, stage, annotators, leads, self.task_ids(project.id), self.positions(project.id)
        )


@dataclass
class ProjectWork:
    """A project at one moment: its people, and everybody's queue."""

    project: Project
    stage: Stage
    annotators: tuple[str, ...]
    leads: tuple[str, ...]
    tasks: Sequence[str]
    positions: Sequence[Position]

    def __post_init__(self) -> None:
        self._begun: Mapping[str, set[str]] = defaultdict(set)
        self._finished: Mapping[tuple[str, Role], set[str]] = defaultdict(set)
        for position in self.positions:
            if position.role == "annotation":
                self._begun[position.task_id].add(position.annotator)
            if position.finished:
                self._finished[position.annotator, position.role].add(position.task_id)

    def queue(self, name: str, role: Role = "annotation") -> list[str]:
        """The tasks of one person in order, those that are done included."""
        if role == "audit":
            judged: set[str] = set()
            for (_, own_role), tasks in self._finished.items():
                if own_role == "annotation":
                    judged |= tasks
            return audit_tasks(self.project, judged)
        return queue(self.project, self.stage, self.tasks, self.annotators, self._begun, name)

    def done(self, name: str, role: Role = "annotation") -> set[str]:
        """The tasks that this person has finished."""
        return self._finished.get((name, role), set())

    @property
    def pilot(self) -> set[str]:
        return set(pilot_tasks(self.project, self.tasks))


def _row(project_id: str, judgement: Annotation) -> dict[str, object]:
    names = {"task_id", "annotator", "role", "revision", "made_at"}
    return judgement.model_dump(include=names) | {
        "id": judgement.id,
        "project_id": project_id,
        "answer": judgement.content.answer or "",
        "body": judgement.model_dump_json(),
    }


# --- files ---


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
            lines.append(json_line({"kind": kind, **record.model_dump(mode="json")}))
    return "".join(lines)


def labelled_set(tasks: Mapping[str, Task], answers: Mapping[str, Answer | None]) -> str:
    """Return the decisions as JSON Lines in the format of the benchmark.

    `grounded` is true if people judged it attributable. Flagged, undecided and uninterpretable
    tasks are left out. `context` is the source, `turns` the conversation before the question.
    """
    return "".join(
        json_line(_labelled_row(tasks[task_id], answer == "attributable"))
        for task_id, answer in sorted(answers.items())
        if answer in ("attributable", "not_attributable")
    )


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
