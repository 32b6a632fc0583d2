"""The project's one database."""

from __future__ import annotations

from attribution.storage.runs import Runs


class Store(Runs):
    """Caches and runs, in SQLite or another SQL database."""
