"""The retrieval grid computed in the background of one session, cell by cell."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from attribution.errors import AttributionError
from attribution.evaluation.retrieval_grid import Cell, Choice, choices
from attribution.snapshots import Snapshot

Compute = Callable[[Snapshot, Sequence[Choice], threading.Event], Iterator[Cell]]


@dataclass(frozen=True)
class Progress:
    """What is known of a grid at one moment."""

    cells: tuple[Cell, ...] = ()
    chosen: tuple[Choice, ...] = ()  # the cells in all
    running: bool = True
    stopping: bool = False
    broken: str = ""  # it ended early, with the reason

    @property
    def total(self) -> int:
        return len(self.chosen)


class GridJob:
    """Owns its thread and its stop signal."""

    def __init__(
        self, open_: Callable[[], Snapshot], cuts: Sequence[str], embedders: Sequence[str], compute: Compute
    ) -> None:
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._progress = Progress()
        threading.Thread(target=self._work, args=(open_, cuts, embedders, compute), name="grid", daemon=True).start()

    def stop(self) -> None:
        """Ask it to end with the cells it has."""
        self._stop.set()

    def progress(self) -> Progress:
        with self._lock:
            return replace(self._progress, stopping=self._stop.is_set() and self._progress.running)

    def _set(self, **changes: object) -> None:
        with self._lock:
            self._progress = replace(self._progress, **changes)  # type: ignore[arg-type]

    def _work(
        self, open_: Callable[[], Snapshot], cuts: Sequence[str], embedders: Sequence[str], compute: Compute
    ) -> None:
        broken = ""
        try:
            snapshot = open_()
            chosen = choices(snapshot, cuts, embedders)
            self._set(chosen=tuple(chosen))
            for cell in compute(snapshot, chosen, self._stop):
                self._set(cells=(*self._progress.cells, cell))
        except AttributionError as error:
            broken = str(error)
        except Exception as error:  # a bug must not leave the page waiting for ever
            broken = f"The grid ended early: {type(error).__name__}: {error}"
        self._set(running=False, broken=broken)
