"""The retrieval grid, computed in the background cell by cell."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.errors import StoreError
from attribution.evaluation.retrieval_grid import Cell, Choice, choices
from attribution.snapshots.snapshot import Snapshot
from pages.ui import background
from pages.ui.form.words import explain

Compute = Callable[[Snapshot, Sequence[Choice], threading.Event], Iterator[Cell]]


@dataclass(frozen=True)
class GridProgress(background.Progress):
    """A grid at one moment."""

    cells: tuple[Cell, ...] = ()  # those that are done
    choices: tuple[Choice, ...] = ()  # all of them
    failures: tuple[tuple[Choice, str, str], ...] = ()  # cells that could not be computed: the reason, its details


class GridJob(background.Job[GridProgress]):
    """Opens the snapshot, which takes long too, then computes the cells one by one; one that fails costs itself.

    The cells are saved under the id of the grid as they are done.
    """

    def __init__(
        self,
        id: str,
        open_snapshot: Callable[[], Snapshot],
        cuts: Sequence[str],
        embedders: Sequence[str],
        compute: Compute,
        save: Callable[[Sequence[Cell]], None],
    ) -> None:
        self.id = id

        def work(stop: threading.Event, update: Callable[..., GridProgress]) -> None:
            snapshot = open_snapshot()
            now = update(choices=tuple(choices(snapshot, cuts, embedders)))
            for choice in now.choices:
                try:
                    for cell in compute(snapshot, [choice], stop):
                        now = update(cells=(*now.cells, cell))
                        save(now.cells)
                except StoreError:
                    raise
                except Exception as error:  # a model that breaks costs its own cells
                    now = update(failures=(*now.failures, (choice, *explain(error))))
                if stop.is_set():
                    return

        super().__init__("grid", GridProgress(), work)
        background.register(id, self)
