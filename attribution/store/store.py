"""The project's one database."""

from __future__ import annotations

from attribution.store.cache import Cache
from attribution.store.database import Database
from attribution.store.history import History
from attribution.store.rights import Rights, owner_of
from attribution.store.runs import Queue, Results, Runs
from attribution.store.upgrade import prepare


class Store:
    """The rooms of one database: caches, runs, their history and queue, and results of studies.

    Args:
        by: The token of the browser or key that acts; empty for the command line.
        owner: The owner to act for where the token isn't known, see `rights.owner_of`.
    """

    def __init__(self, database: Database, by: str = "", owner: str = "") -> None:
        self.database = database
        self.rights = Rights(database, owner or owner_of(by))
        self.cache = Cache(database)
        self.results = Results(database, self.rights, self.cache)
        self.runs = Runs(database, self.rights, self.cache)
        self.history = History(database, self.rights, self.runs)
        self.queue = Queue(database, self.rights)

    @classmethod
    def open(cls, url: str, by: str = "") -> Store:
        """Open the database as `Database.open` does, with its tables."""
        database = Database.open(url)
        prepare(database)
        return cls(database, by)

    def close(self) -> None:
        self.database.close()
