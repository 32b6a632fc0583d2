"""The retrieval grid computed in the background of one session, cell by cell."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.evaluation.retrieval_grid import Cell, Choice, choices
from attribution.snapshots.snapshot import Snapshot
from pages.ui import background

Compute = Callable[[Snapshot, Sequence[Choice], threading.Event], Iterator[Cell]]


@dataclass(frozen=True)
class Progress(background.Progress):
    """What is known of a grid at one moment."""

    cells: tuple[Cell, ...] = ()
    chosen: tuple[Choice, ...] = ()  # the cells in all

    @property
    def total(self) -> int:
        return len(self.chosen)


class GridJob(background.Worker[Progress]):
    """Opens the snapshot too: that takes its time."""

    def __init__(
        self, open_: Callable[[], Snapshot], cuts: Sequence[str], embedders: Sequence[str], compute: Compute
    ) -> None:
        def work(stop: threading.Event, tell: Callable[..., Progress]) -> None:
            snapshot = open_()
            now = tell(chosen=tuple(choices(snapshot, cuts, embedders)))
            for cell in compute(snapshot, now.chosen, stop):
                now = tell(cells=(*now.cells, cell))

        super().__init__("grid", Progress(), work)
