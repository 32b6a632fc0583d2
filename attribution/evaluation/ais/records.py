"""Judgements in the database. Rows are only ever added, each in a transaction of its own.

A killed process leaves every judgement that it has confirmed. A step names the record that it follows, so that the same
step sent twice, or from two windows, is counted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import sqlalchemy as sa

from attribution.errors import BadInput
from attribution.evaluation.ais.judgements import Content, Judgement, Role, current, steps
from attribution.evaluation.ais.tasks import Stage
from attribution.storage import tables as t
from attribution.storage.database import Database

UNDONE = "undone"  # in the place of an answer: all was taken back


class Position(NamedTuple):
    """How far an annotator is with a task."""

    task_id: str
    annotator: str
    role: Role
    finished: bool
    begun: bool  # False after everything was undone


class Stale(BadInput):
    """A step that follows a record which is not the last one."""


def timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Records:
    """The judgements of all projects. Safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database, self._engine = database, database.engine

    def judgements(self, project_id: str, annotator: str = "", task_id: str = "") -> list[Judgement]:
        """All records of a project, or those of one annotator, or about one task."""
        c = t.annotation_judgements.c
        where = [c.project_id == project_id]
        where += [c.annotator == annotator] if annotator else []
        where += [c.task_id == task_id] if task_id else []
        with self._engine.connect() as db:
            bodies = db.execute(sa.select(c.body).where(*where).order_by(c.made_at, c.id)).scalars().all()
        return [Judgement.model_validate_json(body) for body in bodies]

    def put_judgements(self, project_id: str, judgements: Sequence[Judgement]) -> int:
        """Save records of this or another database; how many are new."""
        a = t.annotation_judgements
        known = self._database.rows(a, [judgement.id for judgement in judgements])
        rows = {j.id: _row(project_id, j) for j in judgements if j.id not in known}
        self._database.insert(a, list(rows.values()))
        return len(rows)

    def step(
        self, project_id: str, task_id: str, annotator: str, role: Role, stage: Stage, content: Content, follows: str
    ) -> Judgement:
        """Save what an annotator says next about a task; `follows` is the id of their last record, empty for none.

        The same step sent again returns the record that is there. Stale where another one has been saved meanwhile.
        """
        with self._database.transaction() as db:
            records = _records(db, task_id, annotator, role)
            for record in records:
                if record.restores is None and (record.follows, record.content) == (follows, content):
                    return record
            last = _last(records)
            if follows != (last.id if last else ""):
                raise Stale("This task was answered in another window. What was saved there is shown.")
            origin = _origin(db, project_id)
            made = Judgement(
                task_id=task_id, annotator=annotator, role=role, revision=last.revision + 1 if last else 1,
                origin=origin, made_at=timestamp(), stage=stage, follows=follows,
                parent=last.effective if last else "", content=content,
            )  # fmt: skip
            db.execute(t.annotation_judgements.insert(), _row(project_id, made))
            return made

    def undo(self, project_id: str, annotator: str, role: Role) -> Judgement | None:
        """Take back this annotator's last step that counts, about whichever task; None where there is none."""
        records = [r for r in self.judgements(project_id, annotator) if r.role == role]
        counted = steps(records)
        if not counted:
            return None
        taken_back = counted[-1]
        before = next((r.content for r in records if r.id == taken_back.parent), Content())
        with self._database.transaction() as db:
            last = _last(_records(db, taken_back.task_id, annotator, role))
            assert last is not None
            if last.effective != taken_back.id:  # another window was first
                return last
            changes = {
                "revision": last.revision + 1, "origin": _origin(db, project_id), "made_at": timestamp(),
                "follows": last.id, "parent": taken_back.id, "restores": taken_back.parent, "content": before,
            }  # fmt: skip
            made = last.model_copy(update=changes)
            db.execute(t.annotation_judgements.insert(), _row(project_id, made))
            return made

    def positions(self, project_id: str) -> list[Position]:
        """How far all annotators are, without reading what they said."""
        c = t.annotation_judgements.c
        last: dict[tuple[str, str, Role], tuple[int, str]] = {}
        columns = (c.task_id, c.annotator, c.role, c.revision, c.answer)
        with self._engine.connect() as db:
            rows = db.execute(sa.select(*columns).where(c.project_id == project_id).order_by(*_ORDER)).all()
        for task, name, role, revision, answer in rows:
            last[task, name, role] = (revision, answer)
        return [
            Position(task, name, role, finished=answer not in ("", UNDONE), begun=answer != UNDONE)
            for (task, name, role), (_, answer) in last.items()
        ]


_ORDER = [
    getattr(t.annotation_judgements.c, name) for name in ("revision", "made_at", "origin", "id")
]  # as in `current`


def _row(project_id: str, judgement: Judgement) -> dict[str, object]:
    answer = UNDONE if judgement.restores == "" else judgement.content.answer or ""
    names = {"task_id", "annotator", "role", "revision", "origin", "made_at"}
    own = {"id": judgement.id, "project_id": project_id, "answer": answer, "body": judgement.model_dump_json()}
    return judgement.model_dump(include=names) | own


def _records(db: sa.Connection, task_id: str, annotator: str, role: Role) -> list[Judgement]:
    c = t.annotation_judgements.c
    here = (c.task_id == task_id, c.annotator == annotator, c.role == role)
    return [Judgement.model_validate_json(body) for body in db.execute(sa.select(c.body).where(*here)).scalars()]


def _last(records: Sequence[Judgement]) -> Judgement | None:
    return next(iter(current(records).values()), None)


def _origin(db: sa.Connection, project_id: str) -> str:
    p = t.annotation_projects.c
    origin = db.execute(sa.select(p.origin).where(p.id == project_id)).scalar()
    if origin is None:
        raise BadInput("this project is not in the database")
    return str(origin)
