"""A test set in the background, answer by answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.evaluation.evoked_errors.test_set import Grounded, Made
from pages.ui import background

Make = Callable[[Sequence[Grounded]], Iterator[tuple[list[Made], list[str]]]]


@dataclass(frozen=True)
class MakeProgress(background.Progress):
    """The set at one moment."""

    total: int
    done: int = 0
    made: tuple[Made, ...] = ()
    problems: tuple[str, ...] = ()


class MakeJob(background.Job[MakeProgress]):
    """Stopping it keeps the answers that are done."""

    def __init__(self, grounded: Sequence[Grounded], make: Make) -> None:
        def work(stop: threading.Event, update: Callable[..., MakeProgress]) -> None:
            now = update()
            for number, answer in enumerate(grounded, 1):
                if stop.is_set():
                    return
                for rows, problems in make([answer]):
                    said = tuple(f"{answer.id}: {problem}" for problem in problems)
                    now = update(done=number, made=(*now.made, *rows), problems=(*now.problems, *said))

        super().__init__("evoke", MakeProgress(total=len(grounded)), work)
