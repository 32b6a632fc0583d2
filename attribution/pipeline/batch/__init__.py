"""Many answers, one report each, in a file that a killed batch goes on with."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from attribution.pipeline.batch.analysis import Analysed, Local
from attribution.pipeline.batch.output import Output
from attribution.settings import Settings
from attribution.text.json_lines import Row
from attribution.types import Label, content_id

INPUT = ("question", "answer", "documents", "turns")  # fields that are not copied: the report has them


class Engine(Protocol):
    """Where the rows are analysed: `Local` in this process, `ray_data.OnRay` on a cluster."""

    def analyse(self, rows: Sequence[Row]) -> Iterator[tuple[int, Analysed]]:
        """The place of each row with its result, in any order.

        Unavailable or BadInput is raised before any row where a model, key or name is missing.
        """
        ...


@dataclass(frozen=True)
class BatchProgress:
    """After each row: rows done and in all, what is wrong with this one, and what was found so far."""

    done: int
    total: int
    problem: str = ""
    rate: float | None = None  # answers a minute in this call, without loading models; None until two are analysed
    seconds_left: float | None = None
    failed: int = 0
    labels: Counter[Label] = field(default_factory=Counter)


def batch(rows: Sequence[Row], settings: Settings, path: Path, engine: Engine | None = None) -> Iterator[BatchProgress]:
    """Analyse every row's `answer` with its `question`, `documents` and `turns`, and write a line each.

    A line holds the row's other fields, a `key` and the `report`, or an `error`. Rows that an earlier call finished
    with the same settings are not analysed again, whatever the engine (None: this process); equal rows are analysed
    once. In the end the lines stand in the order of the rows. Unavailable or BadInput is raised before any row where
    a model, key or name is missing.
    """
    choices = json.dumps(settings.public(), sort_keys=True)
    keys = [content_id(json.dumps(row.fields, sort_keys=True), choices) for row in rows]
    with Output(path) as output:
        run = _Batch(rows, keys, output)
        yield from run.known()
        if waiting := run.waiting():
            yield from run.analyse(waiting, engine or Local(settings))
        output.arrange([(run.places[n], row.line) for n, row in enumerate(rows)])


class _Batch:
    """The rows of one call: which are done, and what was found."""

    def __init__(self, rows: Sequence[Row], keys: Sequence[str], output: Output) -> None:
        self.rows, self.keys, self.output = rows, keys, output
        self.places: dict[int, int] = {}  # of the rows that are done, the start of their line
        self.failed = 0
        self.labels: Counter[Label] = Counter()

    def known(self) -> Iterator[BatchProgress]:
        """Rows that cannot be read, and those that an earlier call finished."""
        for n, row in enumerate(self.rows):
            if row.error:
                yield self._fail(n, row.error)
            elif saved := self.output.finished.get(self.keys[n]):
                yield self._finish(n, *saved)

    def waiting(self) -> dict[str, list[int]]:
        """The rows to analyse, equal ones together."""
        groups: dict[str, list[int]] = {}
        for n, key in enumerate(self.keys):
            if n not in self.places:
                groups.setdefault(key, []).append(n)
        return groups

    def analyse(self, waiting: dict[str, list[int]], engine: Engine) -> Iterator[BatchProgress]:
        groups = list(waiting.values())
        first, speed = 0.0, tuple[float, ...]()
        for analysed, (place, result) in enumerate(engine.analyse([self.rows[same[0]] for same in groups])):
            same = groups[place]
            if analysed:  # the first loads the models
                rate = analysed / max(time.monotonic() - first, 1e-6)
                speed = 60 * rate, (len(groups) - analysed - 1) / rate
            else:
                first = time.monotonic()
            if result.problem:
                for n in same:
                    yield self._fail(n, result.problem, *speed)
                continue
            key = self.keys[same[0]]
            saved = self.output.append(_line(self.rows[same[0]], key, result.report)), result.labels()
            for n in same:
                yield self._finish(n, *saved, *speed)

    def _fail(self, n: int, problem: str, *speed: float) -> BatchProgress:
        self.failed += 1
        self.places[n] = self.output.append(self.rows[n].failed(problem))
        return self._progress(f"line {self.rows[n].line}: {problem}", *speed)

    def _finish(self, n: int, place: int, labels: Counter[Label], *speed: float) -> BatchProgress:
        self.places[n] = place
        self.labels.update(labels)
        return self._progress("", *speed)

    def _progress(self, problem: str, rate: float | None = None, left: float | None = None) -> BatchProgress:
        return BatchProgress(
            len(self.places), len(self.rows), problem, rate, left, self.failed, Counter(self.labels)
        )  # fmt: skip


def _line(row: Row, key: str, report: str) -> dict[str, Any]:
    kept = {name: value for name, value in row.fields.items() if name not in INPUT}
    return {**kept, "line": row.line, "key": key, "report": json.loads(report)}
