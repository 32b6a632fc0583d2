"""The project's one database."""

from __future__ import annotations

import sqlalchemy as sa

from attribution.errors import StoreError
from attribution.store import database as t
from attribution.store.cache import Cache
from attribution.store.database import Database
from attribution.store.history import History
from attribution.store.rights import Rights, owner_of
from attribution.store.runs import Queue, Results, Runs


class Store:
    """The rooms of one database: caches, runs, their history and queue, and results of studies.

    Args:
        by: The token of the browser or key that acts; empty for the command line.
        owner: The owner to act for where the token isn't known, see `rights.owner_of`.
        address: The network address of that browser; empty if it isn't known.
    """

    def __init__(
        self, database: Database, by: str = "", owner: str = "", address: str = ""
    ) -> None:
        self.database = database
        self.rights = Rights(database, owner or owner_of(by), address)
        self.cache = Cache(database)
        self.results = Results(database, self.rights, self.cache)
        self.runs = Runs(database, self.rights, self.cache)
        self.history = History(database, self.rights)
        self.queue = Queue(database, self.rights)

    @classmethod
    def open(cls, url: str, by: str = "", address: str = "") -> Store:
        """Open the database as `Database.open` does, with its tables."""
        database = Database.open(url)
        _prepare(database)
        return cls(database, by, address=address)

    def close(self) -> None:
        """Close all connections; the next use opens new ones."""
        self.database.engine.dispose()


def _prepare(database: Database) -> None:
    """Make the tables of a new database. Raises StoreError if another version made it."""
    with database.engine.connect() as db:
        if _revision(db) == t.REVISION:
            return
    with database.transaction() as db:
        revision = _revision(db)
        if revision is None and not sa.inspect(db).has_table("runs"):
            t.metadata.create_all(db)
            db.execute(t.revision.insert().values(version_num=t.REVISION))
        elif revision != t.REVISION:
            raise StoreError(
                f"the database has schema {revision or 'none'}, this version reads {t.REVISION}: "
                "set ATTRIBUTION_DATABASE_URL to another database, or use the version of the "
                "explorer that made this one"
            )


def _revision(db: sa.Connection) -> str | None:
    """Return the revision of the tables; None in a new database."""
    if not sa.inspect(db).has_table(t.revision.name):
        return None
    return db.execute(sa.select(t.revision.c.version_num)).scalar()
