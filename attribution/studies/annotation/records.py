"""Store annotators' judgements (R23, sections 4.1 and 4.2) in a log: each step adds a record, and none is changed.

If the process is killed, every confirmed judgement is kept. A step names the record that it follows, so that the same
step sent twice, or from two windows, is counted once.

Undo also adds a record, which names what it restores. The state is a function of the set of records, so records of two
databases are merged by a union.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple, get_args

import sqlalchemy as sa
from pydantic import Field

from attribution.errors import BadInput
from attribution.store import schema as t
from attribution.store.database import Database
from attribution.studies.annotation.tasks import MAX_NAME, Stage
from attribution.types import Frozen, content_id

UNDONE = "undone"  # in place of an answer, after everything was undone


class Position(NamedTuple):
    """The progress of an annotator with a task."""

    task_id: str
    annotator: str
    role: Role
    finished: bool
    begun: bool  # False after everything was undone


class Stale(BadInput):
    """A step that does not follow the last record."""


def timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Records:
    """The judgements of all projects, safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database, self._engine = database, database.engine

    def judgements(self, project_id: str, annotator: str = "", task_id: str = "") -> list[Judgement]:
        """Return the records of a project, optionally of one annotator or about one task."""
        c = t.annotation_judgements.c
        where = [c.project_id == project_id]
        where += [c.annotator == annotator] if annotator else []
        where += [c.task_id == task_id] if task_id else []
        with self._engine.connect() as db:
            bodies = db.execute(sa.select(c.body).where(*where).order_by(c.made_at, c.id)).scalars().all()
        return [Judgement.model_validate_json(body) for body in bodies]

    def put_judgements(self, project_id: str, judgements: Sequence[Judgement]) -> int:
        """Save records of this or another database; return the number of new ones."""
        a = t.annotation_judgements
        known = self._database.rows(a, [judgement.id for judgement in judgements])
        rows = {j.id: _row(project_id, j) for j in judgements if j.id not in known}
        self._database.insert(a, list(rows.values()))
        return len(rows)

    def step(
        self, project_id: str, task_id: str, annotator: str, role: Role, stage: Stage, content: Content, follows: str
    ) -> Judgement:
        """Save an annotator's next step in a task; `follows` is the id of their last record, empty for none.

        The same step sent again returns the saved record. Raises Stale if another step was saved in the meantime.
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
        """Undo this annotator's last step that counts, in any task; None if there is none."""
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
        """Return the progress of all annotators, without reading the contents of their judgements."""
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


Role = Literal["annotation", "audit", "adjudication"]
Flag = Literal["rendering", "corrupted", "underspecified", "expert"]
Answer = Literal["flagged", "not_interpretable", "not_attributable", "attributable"]
ROLES: tuple[Role, ...] = get_args(Role)
FLAGS: dict[Flag, str] = {
    "rendering": "The task is not shown properly",
    "corrupted": "The text is corrupted",
    "underspecified": "The source is underspecified",
    "expert": "It takes an expert to judge",
}
ANSWERS: dict[Answer, str] = {
    "attributable": "Attributable",
    "not_attributable": "Not attributable",
    "not_interpretable": "Not interpretable",
    "flagged": "Flagged",
}
LONGEST = 20_000  # characters of a justification, note or explicature


class Content(Frozen):
    """An annotator's judgement of a task; still empty if `interpretable` is None and no flag is set."""

    interpretable: bool | None = None
    attributable: bool | None = None  # asked only if it is interpretable
    flags: tuple[Flag, ...] = ()
    justification: str = Field("", max_length=LONGEST)
    explicature: str = Field("", max_length=LONGEST)  # the answer reworded to stand alone; empty: unchanged
    seconds: tuple[float, float] = (0.0, 0.0)  # for each question, without pauses

    @property
    def answer(self) -> Answer | None:
        """The answers to both questions as one; None if the task is not finished."""
        if self.flags:
            return "flagged"
        if self.interpretable is False:
            return "not_interpretable"
        if self.interpretable is None or self.attributable is None:
            return None
        return "attributable" if self.attributable else "not_attributable"


class Judgement(Frozen):
    """One record of one annotator about one task."""

    task_id: str
    annotator: str = Field(min_length=1, max_length=MAX_NAME)
    role: Role = "annotation"
    revision: int = Field(ge=1)  # counts the records of this annotator about this task
    origin: str  # the database it was made in
    made_at: str  # ISO 8601, UTC, with microseconds
    stage: Stage
    follows: str = ""  # id of the record before it, of any kind; empty: none
    parent: str = ""  # id of the record whose content it replaced; empty: none
    restores: str | None = None  # for undo: id of the record whose content is restored; empty: the beginning
    content: Content = Content()

    @property
    def id(self) -> str:
        """A hash of the whole record."""
        return content_id(self.model_dump_json())

    @property
    def effective(self) -> str:
        """The id of the record that this content comes from; empty after everything was undone."""
        return self.id if self.restores is None else self.restores

    @property
    def place(self) -> tuple[str, str, str]:
        return self.task_id, self.annotator, self.role


def current(records: Iterable[Judgement]) -> dict[tuple[str, str, str], Judgement]:
    """Return the last record of each annotator about each task in each role, whatever the order of the records."""
    last: dict[tuple[str, str, str], Judgement] = {}
    for record in records:
        known = last.get(record.place)
        if known is None or _order(known) < _order(record):
            last[record.place] = record
    return last


def _order(record: Judgement) -> tuple[int, str, str, str]:
    return record.revision, record.made_at, record.origin, record.id


def steps(records: Sequence[Judgement]) -> list[Judgement]:
    """Return the records that still count, oldest first: undo takes back the last of them."""
    by_id = {record.id: record for record in records}
    found: dict[str, Judgement] = {}
    for record in current(records).values():
        key = record.effective
        while key in by_id and key not in found:
            found[key] = by_id[key]
            key = by_id[key].parent
    return sorted(found.values(), key=lambda r: (r.made_at, r.revision, r.id))


def finished(records: Iterable[Judgement], role: Role = "annotation") -> list[Judgement]:
    """Return the judgements that count: each annotator's last record about each task, if it is finished."""
    return [r for r in current(records).values() if r.role == role and r.content.answer is not None]


def by_task(judgements: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    """Group judgements by task, ordered by the annotators' names."""
    grouped: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in sorted(judgements, key=lambda j: j.annotator):
        grouped[judgement.task_id].append(judgement)
    return dict(grouped)


def consensus(judgements: Sequence[Judgement]) -> Answer | None:
    """Return the majority's answer for a task; None for a tie.

    The majority decides on flagging first, then, among the remaining annotators, on interpretability, then on
    attribution: only annotators who found the answer interpretable read the source.
    """
    answers = [j.content.answer for j in judgements if j.content.answer]
    left: list[str] = list(answers)
    for answer in ("flagged", "not_interpretable", "not_attributable"):
        these = left.count(answer)
        if not left or 2 * these == len(left):
            return None
        if 2 * these > len(left):
            return answer
        left = [other for other in left if other != answer]
    return "attributable"


def decided(
    judgements: Mapping[str, Sequence[Judgement]], adjudicated: Mapping[str, Judgement]
) -> dict[str, Answer | None]:
    """Return the answer for each judged task: the adjudicator's if there is one, else the majority's."""
    return {
        task_id: adjudicated[task_id].content.answer if task_id in adjudicated else consensus(of_task)
        for task_id, of_task in judgements.items()
    }
