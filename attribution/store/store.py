"""The project's one database."""

from __future__ import annotations

from attribution.store.history import History
from attribution.store.runs import Versions


class Store(Versions, History):
    """Caches, runs and other results, in SQLite or another SQL database."""
