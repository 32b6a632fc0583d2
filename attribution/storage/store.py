"""The project's one database."""

from __future__ import annotations

from attribution.storage.history import History
from attribution.storage.versions import Versions


class Store(Versions, History):
    """Caches, runs and other results, in SQLite or another SQL database."""
