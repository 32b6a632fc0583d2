"""Open the database for the visitor of a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from attribution.errors import AttributionError
from attribution.settings import Settings
from attribution.store.store import Store
from pages.ui import state

T = TypeVar("T")


def store() -> Store:
    """Open the database for this browser. Call it in the session; the store can be used in any thread."""
    return Store.open(Settings.from_environment().database_url, by=state.browser())


def unowned_store() -> Store:
    """Open the database without an owner: for models, and for runs within a comparison, which no browser lists."""
    return Store.open(Settings.from_environment().database_url)


def saved(load: Callable[[Store], T | None]) -> tuple[T | None, str]:
    """Load a saved result; return None, and why it cannot be shown, if that fails."""
    try:
        result = load(store())
    except AttributionError as error:
        return None, str(error)
    except ValueError:  # pydantic's ValidationError is one
        return None, "It was saved by another version of the explorer."
    return result, "" if result else "It is not in this server's database."
