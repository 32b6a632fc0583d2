"""Results in the store, so that they have an address and survive a reload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from attribution.store.store import Store
from attribution.types import Page

T = TypeVar("T")


@dataclass(frozen=True)
class Saved(Generic[T]):
    """The results of one kind."""

    kind: str
    adapter: TypeAdapter[T]

    def save(self, store: Store, result_id: str, result: T, pages: Sequence[Page] = ()) -> None:
        """Save a result, or how far it has come; the texts of its pages are saved apart, once."""
        store.results.save(self.kind, result_id, self.adapter.dump_json(result).decode(), pages)

    def load(self, store: Store, result_id: str) -> T | None:
        """Load a result, finished or not; None if there is none with that id. ValidationError for another version."""
        body = store.results.load(self.kind, result_id)
        return None if body is None else self.adapter.validate_json(body)
