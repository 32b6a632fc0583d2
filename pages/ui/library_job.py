"""Documents added to a collection in the background of one session, then embedded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from attribution.collections import Added, Item
from attribution.errors import AttributionError
from attribution.types import Failure

Add = Callable[[Sequence[Item], threading.Event], Iterator[Added]]
Embed = Callable[[threading.Event], Iterator[tuple[int, int]]]


@dataclass(frozen=True)
class Progress:
    """What is known at one moment; a stop and a broken end keep what was added."""

    collection: str
    total: int
    done: int = 0
    new: int = 0  # added or changed
    failures: tuple[Failure, ...] = ()
    embedded: tuple[int, int] | None = None  # documents with a vector, and all; None while adding
    running: bool = True
    stopping: bool = False
    broken: str = ""


class LibraryJob:
    """Owns its thread and its stop signal."""

    def __init__(self, collection: str, items: Sequence[Item], add: Add, embed: Embed) -> None:
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._progress = Progress(collection, len(items))
        threading.Thread(target=self._work, args=(items, add, embed), name="library", daemon=True).start()

    def stop(self) -> None:
        """Ask it to end with what is added."""
        self._stop.set()

    def progress(self) -> Progress:
        with self._lock:
            return replace(self._progress, stopping=self._stop.is_set() and self._progress.running)

    def _set(self, **changes: object) -> None:
        with self._lock:
            self._progress = replace(self._progress, **changes)  # type: ignore[arg-type]

    def _work(self, items: Sequence[Item], add: Add, embed: Embed) -> None:
        broken = ""
        try:
            for added in add(items, self._stop):
                now = self._progress
                failures = (*now.failures, added.failure) if added.failure else now.failures
                self._set(done=now.done + 1, new=now.new + (added.state in ("added", "changed")), failures=failures)
            if not self._stop.is_set():
                for embedded in embed(self._stop):
                    self._set(embedded=embedded)
        except AttributionError as error:
            broken = str(error)
        except Exception as error:  # a bug must not leave the page waiting for ever
            broken = f"Adding ended early: {type(error).__name__}: {error}. What was added until then is kept."
        self._set(running=False, broken=broken)
