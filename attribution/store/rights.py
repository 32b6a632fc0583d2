"""Who may read and change what is saved, decided in the database, in the transaction of each change."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple, Self

import sqlalchemy as sa

from attribution.errors import NotYours
from attribution.store import schema as t
from attribution.store.cache import Cache

COPY = "make a copy to change it"
SHARED = "*"  # in place of the owner of a result that anybody may replace


class Access(NamedTuple):
    """What may be done with a run or another saved result."""

    private: bool = False  # only its owner may see it
    own: bool = False  # may be changed and deleted
    deleted: bool = False  # nobody may see it; its owner can restore it for a while


class Rights(Cache):
    """A store in somebody's name: `by` is the token of a browser or key, empty for the command line.

    What is saved belongs to the token it is saved under, and no other token changes it. A private run is read by its
    owner, and by the command line, which has the database file itself.
    """

    def __init__(self, engine: sa.Engine, by: str = "") -> None:
        super().__init__(engine)
        self.by = by

    @classmethod
    def open(cls, url: str, by: str = "") -> Self:
        """Open the database as `Database.open` does, in the name of this token."""
        store = super().open(url)
        store.by = by
        return store

    @property
    def owner(self) -> str:
        """The token as the database holds it: its SHA-256; empty for the command line."""
        return hashlib.sha256(self.by.encode()).hexdigest() if self.by else ""

    def access(self, saved_id: str) -> Access:
        """What may be done with a run or result. Nobody owns one that is unknown."""
        r, s = t.runs.c, t.results.c
        with self.engine.connect() as db:
            run = db.execute(sa.select(r.owner, r.private, r.deleted_at).where(r.id == saved_id)).first()
            if run is not None:
                return Access(run.private, run.owner == self.owner, bool(run.deleted_at))
            owner = db.execute(sa.select(s.owner).where(s.id == saved_id)).scalar()
        return Access(own=owner is not None and owner == self.owner)

    def readable(self) -> sa.ColumnElement[bool]:
        """The runs that may be read."""
        r = t.runs.c
        anyone = r.deleted_at == ""
        return sa.and_(anyone, sa.or_(sa.not_(r.private), r.owner == self.owner)) if self.by else anyone

    def check_change(self, run_id: str) -> None:
        """NotYours where this run may not be changed, before work is done in vain: each change is checked again."""
        with self.engine.connect() as db:
            self.changeable(db, run_id)

    def changeable(self, db: sa.Connection, run_id: str, deleted: bool = False) -> sa.Row[Any]:
        """The row of a run that is changed in this transaction, locked where the database locks rows.

        `deleted` says that it may be deleted. NotYours for a run of another owner, and for one that is gone.
        """
        r = t.runs.c
        row = db.execute(sa.select(t.runs).where(r.id == run_id).with_for_update()).first()
        if row is None:
            raise NotYours("this run is no longer in the database")
        own = row.owner == self.owner
        if row.deleted_at and not (own and deleted):
            raise NotYours("this run was deleted" + (": restore it on the History page to change it" if own else ""))
        if not own and row.private:
            raise NotYours("this run is private to another browser")
        if not own:
            raise NotYours(f"this run belongs to another browser: {COPY}")
        return row

    def check_result(self, db: sa.Connection, result_id: str) -> None:
        """NotYours where a result of this id may not be saved in this transaction: it belongs to the run of that id,
        else to who saved it first."""
        if db.execute(sa.select(t.runs.c.id).where(t.runs.c.id == result_id)).first():
            self.changeable(db, result_id)
            return
        s = t.results.c
        owners = db.execute(sa.select(s.owner).where(s.id == result_id).with_for_update()).scalars().all()
        if not {self.owner, SHARED}.issuperset(owners):
            raise NotYours(f"this result belongs to another browser: {COPY}")
