"""The project's one database."""

from __future__ import annotations

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
        self.queue = Queue(database, self.rights, self.cache)

    @classmethod
    def open(cls, url: str, by: str = "", address: str = "") -> Store:
        """Open the database as `Database.open` does.

        Args:
            url: Of the database.
            by: The token of the browser that asks; empty for the command line.
            address: The network address of that browser; empty if it isn't known.

        Raises:
            StoreError: It can't be opened, or another version made it.
        """
        return cls(Database.open(url), by, address=address)

    def close(self) -> None:
        """Close all connections; the next use opens new ones."""
        self.database.engine.dispose()
