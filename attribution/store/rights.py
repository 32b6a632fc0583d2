"""Control who may read and change saved runs and results, in the transaction of each change."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import sqlalchemy as sa

from attribution.errors import BadInput, NotYours
from attribution.settings import server_number
from attribution.store import schema as t
from attribution.store.database import Database

COPY = "make a copy to change it"
SHARED = "*"  # the owner of a result that anybody may replace


class Access(NamedTuple):
    """The rights to a run or another saved result."""

    private: bool = False  # only its owner may see it
    own: bool = False  # may be changed and deleted
    deleted: bool = False  # nobody may see it; its owner can restore it for a while


class Rights:
    """The rights of `by`, the token of a browser or key; empty for the command line.

    Saved data belongs to the token it is saved under, and no other token can change it. A private
    run can be read by
    its owner, and by the command line, which has access to the database file.
    """

    def __init__(self, database: Database, by: str) -> None:
        self._database, self.by = database, by

    @property
    def owner(self) -> str:
        """The SHA-256 of the token, as stored in the database; empty for the command line."""
        return hashlib.sha256(self.by.encode()).hexdigest() if self.by else ""

    def access(self, saved_id: str) -> Access:
        """Return the rights to a run or result. Nobody owns an unknown one."""
        r, s = t.runs.c, t.results.c
        with self._database.engine.connect() as db:
            run = db.execute(
                sa.select(r.owner, r.private, r.deleted_at).where(r.id == saved_id)
            ).first()
            if run is not None:
                return Access(run.private, run.owner == self.owner, bool(run.deleted_at))
            owner = db.execute(sa.select(s.owner).where(s.id == saved_id)).scalar()
        return Access(own=owner is not None and owner == self.owner)

    def readable(self) -> sa.ColumnElement[bool]:
        """Return the condition for runs that may be read."""
        r = t.runs.c
        anyone = r.deleted_at == ""
        return (
            sa.and_(anyone, sa.or_(sa.not_(r.private), r.owner == self.owner))
            if self.by
            else anyone
        )

    def check_room(self) -> None:
        """Raise BadInput where what the owner has saved takes as much of the disk as one owner may
        use.

        The command line has no limit. Counted are characters, which are bytes of most texts.
        """
        if not self.by:
            return
        own = sa.select(t.runs.c.id).where(t.runs.c.owner == self.owner)
        pages = sa.select(t.uses.c.key).where(t.uses.c.kind == "page", t.uses.c.owner_id.in_(own))
        v, s, length = t.run_versions.c, t.results.c, sa.func.length
        sizes = (
            sa.select(sa.func.sum(length(v.report) + length(v.provenance))).where(
                v.run_id.in_(own)
            ),
            sa.select(sa.func.sum(length(s.body))).where(s.owner == self.owner),
            *(
                sa.select(sa.func.sum(length(column))).where(key.in_(ids))
                for column, key, ids in (
                    (t.unfinished_runs.c.report, t.unfinished_runs.c.run_id, own),
                    (t.run_documents.c.content, t.run_documents.c.run_id, own),
                    (t.pages.c.body, t.pages.c.id, pages),
                    (t.frozen_pages.c.body, t.frozen_pages.c.id, pages),
                )
            ),
        )
        with self._database.engine.connect() as db:
            taken = sum(int(db.execute(size).scalar() or 0) for size in sizes) // 1_000_000
        if taken >= (most := server_number("ATTRIBUTION_OWNER_MB")):
            raise BadInput(
                f"your runs and results take {taken:,} MB of this server's disk, and one owner may use {most:,}: "
                "delete some of them for good, or ask its operator for more (ATTRIBUTION_OWNER_MB)"
            )

    def check_change(self, run_id: str) -> None:
        """Raise NotYours if this run may not be changed, to save futile work; each change is
        checked again.
        """
        with self._database.engine.connect() as db:
            self.changeable(db, run_id)

    def changeable(
        self, db: sa.Connection, run_id: str, deleted: bool = False
    ) -> sa.Row[*tuple[object, ...]]:
        """Return the row of a run to change in this transaction, locked if the database locks rows.

        `deleted` allows a deleted run. Raises NotYours for a run of another owner, and for one that
        no longer exists.
        """
        r = t.runs.c
        row = db.execute(sa.select(t.runs).where(r.id == run_id).with_for_update()).first()
        if row is None:
            raise NotYours("this run is no longer in the database")
        own = row.owner == self.owner
        if row.deleted_at and not (own and deleted):
            raise NotYours(
                "this run was deleted"
                + (": restore it on the History page to change it" if own else "")
            )
        if not own and row.private:
            raise NotYours("this run is private to another browser")
        if not own:
            raise NotYours(f"this run belongs to another browser: {COPY}")
        return row

    def check_result(self, db: sa.Connection, result_id: str) -> None:
        """Raise NotYours if a result of this id may not be saved in this transaction.

        It belongs to the owner of the run with that id, else to whoever saved it first.
        """
        if db.execute(sa.select(t.runs.c.id).where(t.runs.c.id == result_id)).first():
            self.changeable(db, result_id)
            return
        s = t.results.c
        owners = (
            db.execute(sa.select(s.owner).where(s.id == result_id).with_for_update())
            .scalars()
            .all()
        )
        if not {self.owner, SHARED}.issuperset(owners):
            raise NotYours(f"this result belongs to another browser: {COPY}")
