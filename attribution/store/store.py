"""The project's one database."""

from __future__ import annotations

from attribution.store.cache import Cache
from attribution.store.database import Database
from attribution.store.history import History
from attribution.store.rights import Rights
from attribution.store.runs import Results, Runs


class Store:
    """The rooms of one database: caches, runs, their history, and results of studies. `Rights` says
    what `by` is.
    """

    def __init__(self, database: Database, by: str = "") -> None:
        self.database = database
        self.rights = Rights(database, by)
        self.cache = Cache(database)
        self.results = Results(database, self.rights, self.cache)
        self.runs = Runs(database, self.rights, self.cache, self.results)
        self.history = History(database, self.rights, self.runs)

    @classmethod
    def open(cls, url: str, by: str = "") -> Store:
        """Open the database as `Database.open` does."""
        return cls(Database.open(url), by)

    def close(self) -> None:
        self.database.close()
