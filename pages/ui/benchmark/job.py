"""A benchmark in the background: method by method, saved as it goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from attribution.evaluation.groundedness.figures import Evaluation, evaluate
from attribution.evaluation.groundedness.outcomes import LeftOut, Outcome
from attribution.evaluation.saved import SavedBenchmark, SavedSet
from pages.ui import background

SAVING = 4.0  # seconds between two saves: a crash costs no more
Run = Callable[[threading.Event], Iterator[Outcome | LeftOut]]


@dataclass(frozen=True)
class BenchmarkProgress(background.Progress):
    """A benchmark at one moment."""

    labelled: SavedSet
    saved: SavedBenchmark  # with the outcomes so far
    evaluation: Evaluation  # of the methods that are done, and at the end of all

    @property
    def total(self) -> int:
        """Outcomes in all, where no method is left out on the way."""
        return len(self.labelled.rows) * len(self.saved.methods)

    @property
    def complete(self) -> bool:
        """Has every method seen every row, or said why it cannot?"""
        return not self.missing()

    def missing(self) -> list[str]:
        """The methods that have not seen every row."""
        counts = self.counts()
        rows = len(self.labelled.rows)
        return [m for m in self.saved.methods if counts[m] < rows and m not in self.saved.left_out]

    def counts(self) -> dict[str, int]:
        """How many rows each method has seen."""
        found = dict.fromkeys(self.saved.methods, 0)
        for outcome in self.saved.outcomes:
            found[outcome.method] += 1
        return found


class BenchmarkJob(background.Job[BenchmarkProgress]):
    """Outcomes come one by one; figures are computed when a method is done. All is saved under the id."""

    def __init__(
        self, id: str, labelled: SavedSet, saved: SavedBenchmark, run: Run, save: Callable[[SavedBenchmark], None]
    ) -> None:
        """`saved` holds the outcomes of an earlier start, which `run` yields again."""
        self.id = id
        kept = {(o.method, o.row): o for o in saved.outcomes}

        def work(stop: threading.Event, update: Callable[..., BenchmarkProgress]) -> None:
            now, done, last, method = saved, dict(kept), time.monotonic(), ""
            save(now)
            try:
                for one in run(stop):
                    if one.method != method:
                        if method:
                            update(evaluation=_evaluated(labelled, now))
                        method = one.method
                    if isinstance(one, LeftOut):
                        now = now.model_copy(update={"left_out": {**now.left_out, one.method: one.reason}})
                    else:
                        done[one.method, one.row] = one
                        now = now.model_copy(update={"outcomes": tuple(done.values())})
                    update(saved=now)
                    if time.monotonic() - last > SAVING:
                        save(now)
                        last = time.monotonic()
            finally:
                save(now)
                update(saved=now, evaluation=_evaluated(labelled, now))

        super().__init__("benchmark", BenchmarkProgress(labelled, saved, _evaluated(labelled, saved)), work)
        background.register(id, self)


def _evaluated(labelled: SavedSet, saved: SavedBenchmark) -> Evaluation:
    """The figures of what there is."""
    seen = {o.method for o in saved.outcomes}
    return evaluate(labelled.rows, saved.outcomes, [m for m in saved.methods if m in seen])


def finished(labelled: SavedSet, saved: SavedBenchmark) -> BenchmarkProgress:
    """A saved benchmark as it is shown."""
    return BenchmarkProgress(labelled, saved, _evaluated(labelled, saved), running=False)


def by_place(outcomes: Sequence[Outcome]) -> Mapping[tuple[str, str], Outcome]:
    """Outcomes by method and row."""
    return {(o.method, o.row): o for o in outcomes}
