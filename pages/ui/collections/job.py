"""Documents added to a collection in the background, then embedded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.collections.ingest import Item, ItemResult
from attribution.types import Failure
from pages.ui import background

Add = Callable[[Sequence[Item], threading.Event], Iterator[ItemResult]]
Embed = Callable[[threading.Event], Iterator[tuple[int, int]]]


@dataclass(frozen=True)
class IngestProgress(background.Progress):
    """How far adding is."""

    collection: str
    total: int
    done: int = 0
    new: int = 0  # added or changed
    failures: tuple[Failure, ...] = ()
    embedded: tuple[int, int] | None = None  # documents with a vector, and all; None while adding


class IngestJob(background.Job[IngestProgress]):
    """Adds first, so that all documents can be searched by their words, then embeds them."""

    def __init__(self, collection: str, items: Sequence[Item], add: Add, embed: Embed) -> None:
        def work(stop: threading.Event, update: Callable[..., IngestProgress]) -> None:
            now = update()
            for added in add(items, stop):
                failures = (*now.failures, added.failure) if added.failure else now.failures
                now = update(done=now.done + 1, new=now.new + (added.state in ("added", "changed")), failures=failures)
            if not stop.is_set():
                for embedded in embed(stop):
                    update(embedded=embedded)

        super().__init__("ingest", IngestProgress(collection, len(items)), work)
