"""A test set in the background, answer by answer; it is saved as it grows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.evaluation.evoked_errors.saved import EvokedSet
from attribution.evaluation.evoked_errors.test_set import Grounded, Made
from pages.ui import background

Make = Callable[[Sequence[Grounded]], Iterator[tuple[list[Made], list[str]]]]
SAVED = 2.0  # seconds between two saved states: a kill costs no more than these


@dataclass(frozen=True)
class MakeProgress(background.Progress):
    """The set at one moment."""

    set: EvokedSet

    @property
    def total(self) -> int:
        return len(self.set.answers)


class MakeJob(background.Job[MakeProgress]):
    """Stopping it keeps the answers that are done."""

    def __init__(self, id: str, begun: EvokedSet, make: Make, save: Callable[[EvokedSet], None]) -> None:
        """`begun` has the answers, and what an earlier start has done of them."""
        self.id = id

        def work(stop: threading.Event, update: Callable[..., MakeProgress]) -> None:
            grown, saved = begun, time.monotonic()
            save(grown)
            try:
                for answer in begun.answers[begun.done :]:
                    if stop.is_set():
                        return
                    for rows, problems in make([answer]):
                        grown = grown.with_answer(rows, [f"{answer.id}: {problem}" for problem in problems])
                        update(set=grown)
                    if time.monotonic() - saved > SAVED:
                        save(grown)
                        saved = time.monotonic()
            finally:
                save(grown)

        super().__init__("evoke", MakeProgress(set=begun), work)
        background.register(id, self)
