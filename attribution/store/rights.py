"""Control who may read and change saved runs and results, in the transaction of each change."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import sqlalchemy as sa

from attribution.errors import NotYours
from attribution.store import database as t
from attribution.store.database import Database, Row


class Access(NamedTuple):
    """The rights to a run."""

    private: bool = False  # only its owner may see it
    own: bool = False  # it may be changed and deleted
    shares_documents: bool = False  # whoever has the link reads its documents
    reads_documents: bool = False


def owner_of(token: str) -> str:
    """Return the SHA-256 of the token of a browser or key, as stored in the database; empty for
    the command line.
    """
    return hashlib.sha256(token.encode()).hexdigest() if token else ""


def set_columns(db: sa.Connection, run_id: str, **values: object) -> None:
    """Set columns of a run in a transaction that has checked the rights."""
    db.execute(t.runs.update().where(t.runs.c.id == run_id).values(**values))


class Rights:
    """The rights of an owner, see `owner_of`.

    Saved data belongs to the token it is saved under, and no other token can change it. A private
    run can be read by its owner, and by the command line, which has access to the database file.
    """

    def __init__(self, database: Database, owner: str, address: str = "") -> None:
        self._database = database
        self._address = address
        self.owner = owner

    def access(self, run_id: str) -> Access:
        """Return the rights to a run.

        Nobody has any to an unknown one.
        """
        run = self._database.rows(t.runs.c.id, [run_id]).get(run_id)
        if run is None:
            return Access()
        is_own = run.owner == self.owner
        is_shared = run.documents == "shared"
        is_reader = not run.documents and (is_own or not self.owner)
        return Access(run.private, is_own, is_shared, is_shared or is_reader)

    def readable(self) -> sa.ColumnElement[bool]:
        """Return the condition for runs that may be read."""
        if not self.owner:
            return sa.true()
        return sa.or_(sa.not_(t.runs.c.private), t.runs.c.owner == self.owner)

    def check_room(self) -> None:
        """Check the space of all that was saved from the owner's address; where none is known, as
        on one's own machine, there is no limit.

        Raises:
            BadInput: It takes as much as it may.
            StoreError: The disk is nearly full.
        """
        if self._address:
            row = {"owner": self.owner, "address": owner_of(self._address)}
            self._database.insert(t.owners, [row], replace=True)
        column = t.owners.c
        address = sa.select(column.address).where(column.owner == self.owner)
        owners = sa.select(column.owner).where(column.address.in_(address))
        sizes = []
        for table in (t.runs, t.results):
            size = sa.func.sum(table.c.size)
            sizes.append(sa.select(size).where(table.c.owner.in_(owners)))
        self._database.check_space("runs of your address", "ATTRIBUTION_ADDRESS_MB", *sizes)

    def change(self, run_id: str, **values: object) -> None:
        """Set columns of a run.

        Raises:
            NotYours: The run is somebody else's, or gone.
        """
        with self._database.transaction() as db:
            self.changeable(db, run_id)
            set_columns(db, run_id, **values)

    def changeable(self, db: sa.Connection, run_id: str) -> Row:
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
        raise NotYours("this run belongs to another browser: make a copy to change it")
