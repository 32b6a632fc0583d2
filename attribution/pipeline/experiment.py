"""Run a function over rows: a bad row leaves the others unaffected, and a killed run resumes where
it stopped.

`run_each` is the loop, an `Experiment` adds the file: a line for each row, found again by its key.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from filelock import FileLock, Timeout

from attribution.errors import BadInput, StageFailure, Stopped, setup_error
from attribution.text_files import Row, complete_lines, named, replacing
from attribution.types import content_id

Item = TypeVar("Item")
T = TypeVar("T")
Fields = dict[str, object]  # of a JSON object
Work = Callable[[Row], Fields]
Prepare = Callable[[], Work]  # loads what all rows of a process share


@dataclass(frozen=True)
class Result(Generic[T]):
    """The result of one row, or what is wrong with the row."""

    value: T | None = None
    problem: str = ""


def attempt(work: Callable[[Item], T], item: Item) -> Result[T]:
    """Run one item; whatever goes wrong is its own problem.

    Only a missing model, a full disk and a broken database raise, since they concern all items; so
    does Stopped.
    """
    try:
        return Result(work(item))
    except Stopped:
        raise
    except (BadInput, StageFailure) as error:
        return Result(problem=str(error))
    except Exception as error:
        cause = setup_error(error)
        if cause is not None:
            raise cause from error
        shown = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return Result(problem=f"it ended with an error ({shown})")


def run_each(
    items: Iterable[Item], work: Callable[[Item], T], stop: threading.Event | None = None
) -> Iterator[Result[T]]:
    """Yield a result for each item, in order. `stop` ends it; an item that it interrupts has no
    result.
    """
    for item in items:
        if stop and stop.is_set():
            return
        try:
            result = attempt(work, item)
        except Stopped:
            return
        if result.problem and stop and stop.is_set():
            return
        yield result


# Yields the place of each row with its result, in any order; Unavailable or BadInput before any
# row.
Engine = Callable[[Sequence[Row], Prepare], Iterator[tuple[int, Result[Fields]]]]


def local(rows: Sequence[Row], prepare: Prepare) -> Iterator[tuple[int, Result[Fields]]]:
    """The engine of this process: one row after the other."""
    yield from enumerate(run_each(rows, prepare()))


@dataclass(frozen=True)
class RowDone:
    """The progress after a row, and what is wrong with it."""

    done: int
    total: int
    failed: int
    problem: str = ""

    def __str__(self) -> str:
        counts = f"{self.done}/{self.total}"
        return f"{counts}: {self.problem}" if self.problem else counts


class Experiment:
    """Rows, and the function that makes the fields of each one's line.

    `choices` is everything but the row that a result depends on, as JSON; `inputs` are fields of a
    row that its result repeats, so that the line leaves them out.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        prepare: Prepare,
        choices: object,
        inputs: Collection[str] = (),
        engine: Engine = local,
    ) -> None:
        self.rows, self.prepare, self.inputs, self.engine = rows, prepare, inputs, engine
        own = json.dumps(choices, sort_keys=True)
        self.keys = [content_id(json.dumps(row.fields, sort_keys=True), own) for row in rows]

    def run(self, path: Path) -> Iterator[RowDone]:
        """Run every row, and append a line each as it ends: its other fields with `line`, a `key`
        and the result, or an `error`.

        Rows that an earlier call finished do not run again, whatever the engine.

        Args:
            path: The file of results.

        Yields:
            The progress after each row.

        Raises:
            Unavailable, BadInput: A model, key or name is missing, or another run writes the file.
        """
        with locked(path):
            finished = self._keep_finished(path)
            total, done, failed = len(self.rows), len(finished), 0
            if done:
                yield RowDone(done, total, failed)
            waiting: list[int] = []
            for place, row in enumerate(self.rows):
                if place in finished:
                    continue
                if not row.error:
                    waiting.append(place)
                    continue
                done, failed = done + 1, failed + 1
                append(path, row.failed(row.error))
                yield RowDone(done, total, failed, f"line {row.line}: {row.error}")
            if not waiting:
                return
            rows = [self.rows[place] for place in waiting]
            for number, result in self.engine(rows, self.prepare):
                append(path, self._line(waiting[number], result))
                done, failed = done + 1, failed + bool(result.problem)
                problem = f"line {rows[number].line}: {result.problem}" if result.problem else ""
                yield RowDone(done, total, failed, problem)

    def _keep_finished(self, path: Path) -> set[int]:
        """Keep the lines of rows that are finished; return the places of these rows."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, key in enumerate(self.keys):
            places[key].append(place)
        finished = set()
        with replacing(path) as out:
            for line in read_lines(path):
                if is_result(line) and places[str(line["key"])]:
                    place = places[str(line["key"])].pop(0)
                    finished.add(place)
                    out.write(_encoded({**line, "line": self.rows[place].line}))
        return finished

    def _line(self, place: int, result: Result[Fields]) -> Fields:
        row = self.rows[place]
        if result.problem:
            return row.failed(result.problem)
        others = {name: value for name, value in row.fields.items() if name not in self.inputs}
        return {**others, "line": row.line, "key": self.keys[place], **(result.value or {})}


# --- files of results ---


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Write a file of results in this process alone. Raises BadInput where another run does."""
    lock = FileLock(f"{path}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BadInput(
            f"another run is writing {path}: wait until it has ended, or choose another output"
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()


def append(path: Path, line: Fields) -> None:
    """Append a line to a file of results."""
    with named(path), path.open("ab") as file:
        file.write(_encoded(line))


def read_lines(path: Path) -> Iterator[Fields]:
    """Yield each object of a file of results; what was cut off by a kill is removed."""
    for line in complete_lines(path):
        with suppress(ValueError):
            fields = json.loads(line)
            if isinstance(fields, dict):
                yield fields


def is_result(line: Fields) -> bool:
    """Return True for a line of a row that is finished, rather than failed."""
    return "key" in line and not line.get("error")


def _encoded(line: Fields) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"
