"""The project's one database."""

from __future__ import annotations

from attribution.storage.results import Results


class Store(Results):
    """Caches, runs and other results, in SQLite or another SQL database."""
