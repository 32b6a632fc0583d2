"""Run a function over rows: a bad row leaves the others unaffected, and a killed run resumes where
it stopped.

`run_each` is the loop, an `Experiment` adds the file: a line for each row, found again by its key.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Generic, Self, TypeVar

from attribution.errors import BadInput, StageFailure, Stopped, setup_error
from attribution.files import Row, complete_lines, named, replacing
from attribution.types import content_id

try:
    import fcntl
except ImportError:  # Windows: two runs are not distinguished there
    fcntl = None  # type: ignore[assignment]

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


def time_left(seconds: float) -> str:
    return f"{seconds:.0f} s left" if seconds < 120 else f"{seconds / 60:.0f} min left"


@dataclass(frozen=True)
class RowDone:
    """The progress after a row, and what is wrong with it."""

    done: int
    total: int
    failed: int
    problem: str = ""
    rate: float | None = None  # rows a minute, without loading models; None until two have run
    seconds_left: float | None = None

    def __str__(self) -> str:
        speed = ""
        if self.rate is not None and self.seconds_left is not None:
            speed = f", {self.rate:.1f} answers a minute, {time_left(self.seconds_left)}"
        return f"{self.done}/{self.total}{speed}" + (f": {self.problem}" if self.problem else "")


@dataclass(frozen=True)
class _Finished:
    """Equal rows with their result; the speed is known from the second result on."""

    rows: list[int]
    result: Result[Fields]
    rate: float | None = None  # rows a minute
    seconds_left: float | None = None


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
        """Run every row, and write a line each: its other fields with a `key` and the result, or an
        `error`.

        Rows that an earlier call finished do not run again, whatever the engine; equal rows run
        once. In the end the lines stand in the order of the rows.

        Args:
            path: The file of results.

        Yields:
            The progress after each row.

        Raises:
            Unavailable, BadInput: A model, key or name is missing; before any row.
        """
        with ResultFile(path) as file:
            starts: dict[int, int] = {}  # of the rows that are done, the first byte of their line
            groups: dict[str, list[int]] = {}  # rows to run, equal ones together
            failed = 0
            for n, (row, key) in enumerate(zip(self.rows, self.keys, strict=True)):
                if row.error:
                    starts[n] = file.append(row.failed(row.error))
                    failed += 1
                elif key in file.finished:
                    starts[n] = file.finished[key]
                else:
                    groups.setdefault(key, []).append(n)
                    continue
                yield self._progress(len(starts), failed, n, row.error)
            for finished in self._finished(list(groups.values())):
                problem = finished.result.problem
                line = self._line(finished.rows[0], finished.result.value or {})
                start = None if problem else file.append(line)
                for n in finished.rows:
                    failed += bool(problem)
                    if start is None:
                        starts[n] = file.append(self.rows[n].failed(problem))
                    else:
                        starts[n] = start
                    yield self._progress(len(starts), failed, n, problem, finished)
            file.arrange([(starts[n], row.line) for n, row in enumerate(self.rows)])

    def _progress(
        self, done: int, failed: int, n: int, problem: str, finished: _Finished | None = None
    ) -> RowDone:
        message = f"line {self.rows[n].line}: {problem}" if problem else ""
        rate = finished.rate if finished else None
        seconds_left = finished.seconds_left if finished else None
        return RowDone(done, len(self.rows), failed, message, rate, seconds_left)

    def _finished(self, groups: Sequence[list[int]]) -> Iterator[_Finished]:
        """Run the first row of each group of equal rows."""
        if not groups:
            return
        started = 0.0
        results = self.engine([self.rows[rows[0]] for rows in groups], self.prepare)
        for ran, (place, result) in enumerate(results):
            if ran == 0:  # it loaded the models
                started = time.monotonic()
                yield _Finished(groups[place], result)
                continue
            rate = ran / max(time.monotonic() - started, 1e-6)
            left = (len(groups) - ran - 1) / rate
            yield _Finished(groups[place], result, 60 * rate, left)

    def _line(self, n: int, fields: Fields) -> Fields:
        row = self.rows[n]
        others = {name: value for name, value in row.fields.items() if name not in self.inputs}
        return {**others, "line": row.line, "key": self.keys[n], **fields}


class ResultFile:
    """A JSON Lines file of results, for one process alone: BadInput where another run has it open.

    `finished` has the first byte of each result's line by its key; lines with an error are not
    among them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        self._file = _open_alone(self.path)
        self.finished = {
            str(line["key"]): start for start, line in read_lines(self.path) if is_result(line)
        }
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what the disk did not take was an error when it was written
            self._file.close()

    def append(self, line: Fields) -> int:
        """Write a line to the end of the file; returns where it starts."""
        with named(self.path):
            start = self._file.seek(0, os.SEEK_END)
            self._file.write(_encoded(line))
            self._file.flush()
        return start

    def arrange(self, lines: Sequence[tuple[int, int]]) -> None:
        """Keep the lines that start at these places, in this order, each with its line number in
        the input.
        """
        with self.path.open("rb") as all_lines, replacing(self.path) as out:
            for start, number in lines:
                all_lines.seek(start)
                line = all_lines.readline()
                saved = json.loads(line)
                out.write(line if saved["line"] == number else _encoded({**saved, "line": number}))


def read_lines(path: Path) -> Iterator[tuple[int, Fields]]:
    """Yield each object of a file of results with its first byte; what was cut off by a kill is
    removed.
    """
    for start, line in complete_lines(path):
        with suppress(ValueError):
            fields = json.loads(line)
            if isinstance(fields, dict):
                yield start, fields


def is_result(line: Fields) -> bool:
    """True for a line of a row that is finished, rather than failed."""
    return "key" in line and not line.get("error")


def _open_alone(path: Path) -> BinaryIO:
    """The file open for appending, and locked as long as it is."""
    while True:
        file = path.open("ab")
        try:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise BadInput(
                f"another run is writing {path}: wait until it has ended, or choose another output"
            ) from None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        file.close()  # the run before it has just replaced the file


def _encoded(line: Fields) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"
