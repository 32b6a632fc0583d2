"""Control who may read and change saved runs and results, in the transaction of each change."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import sqlalchemy as sa

from attribution.errors import BadInput, NotYours
from attribution.server_settings import server_number
from attribution.store import schema as t
from attribution.store.database import Database

COPY = "make a copy to change it"


class Access(NamedTuple):
    """The rights to a run or another saved result."""

    private: bool = False  # only its owner may see it
    own: bool = False  # may be changed and deleted


def owner_of(token: str) -> str:
    """Return the SHA-256 of the token of a browser or key, as stored in the database; empty for
    the command line.
    """
    return hashlib.sha256(token.encode()).hexdigest() if token else ""


class Rights:
    """The rights of an owner, see `owner_of`.

    Saved data belongs to the token it is saved under, and no other token can change it. A private
    run can be read by its owner, and by the command line, which has access to the database file.
    """

    def __init__(self, database: Database, owner: str) -> None:
        self._database, self.owner = database, owner

    def access(self, saved_id: str) -> Access:
        """Return the rights to a run or result. Nobody owns an unknown one."""
        run = self._database.rows(t.runs, [saved_id]).get(saved_id)
        if run is not None:
            return Access(run.private, run.owner == self.owner)
        owners = sa.select(t.results.c.owner).where(t.results.c.id == saved_id)
        return Access(own=self._database.scalar(owners) == self.owner)

    def readable(self) -> sa.ColumnElement[bool]:
        """Return the condition for runs that may be read."""
        if not self.owner:
            return sa.true()
        return sa.or_(sa.not_(t.runs.c.private), t.runs.c.owner == self.owner)

    def check_room(self) -> None:
        """Raise BadInput if what the owner has saved takes as much as one owner may use.

        The command line has no limit.
        """
        self._database.check_disk()
        if not self.owner:
            return
        characters = 0
        for table in (t.runs, t.results):
            size = sa.select(sa.func.sum(table.c.size)).where(table.c.owner == self.owner)
            characters += int(self._database.scalar(size) or 0)
        taken, limit = characters // 1_000_000, server_number("ATTRIBUTION_OWNER_MB")
        if taken >= limit:
            raise BadInput(
                f"your runs and results take {taken:,} MB of this server's disk, and one owner may "
                f"use {limit:,}: delete some of them, or ask its operator for more "
                "(ATTRIBUTION_OWNER_MB)"
            )

    def check_change(self, run_id: str) -> None:
        """Raise NotYours if this run may not be changed, to save futile work; each change is
        checked again.
        """
        with self._database.engine.connect() as db:
            self.changeable(db, run_id)

    def change(self, run_id: str, **values: object) -> None:
        """Set columns of a run. Raises NotYours as `changeable` does."""
        with self._database.transaction() as db:
            self.changeable(db, run_id)
            db.execute(t.runs.update().where(t.runs.c.id == run_id).values(**values))

    def changeable(self, db: sa.Connection, run_id: str) -> sa.Row[*tuple[object, ...]]:
        """Return the row of a run to change in this transaction, locked if the database locks rows.

        Raises:
            NotYours: The run belongs to another owner, or no longer exists.
        """
        query = sa.select(t.runs).where(t.runs.c.id == run_id).with_for_update()
        run = db.execute(query).first()
        if run is None:
            raise NotYours("this run is no longer in the database")
        if run.owner == self.owner:
            return run
        if run.private:
            raise NotYours("this run is private to another browser")
        raise NotYours(f"this run belongs to another browser: {COPY}")

    def check_result(self, db: sa.Connection, result_id: str) -> None:
        """Raise NotYours if somebody else saved a result of this id."""
        owners = sa.select(t.results.c.owner).where(t.results.c.id == result_id)
        for owner in db.execute(owners.with_for_update()).scalars():
            if owner != self.owner:
                raise NotYours(f"this result belongs to another browser: {COPY}")
