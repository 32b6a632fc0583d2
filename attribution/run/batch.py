"""Check many answers, one report each, in a file that a killed batch continues."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self

from attribution.chunkers import CHUNKERS
from attribution.claims.enrichment import turns_of
from attribution.embedders import EMBEDDERS
from attribution.errors import BadInput, setup_error
from attribution.events import Finished
from attribution.files import Row, complete_lines, named, replacing
from attribution.run.run import run
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document, Label, Report, content_id
from attribution.verifiers import VERIFIERS

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


@dataclass(frozen=True)
class Analysed:
    """The report of a row as JSON, or what is wrong with the row."""

    report: str = ""
    problem: str = ""

    def labels(self) -> Counter[Label]:
        """The verdicts of the report, counted."""
        return Counter(v["label"] for v in json.loads(self.report)["verdicts"])


class Local:
    """The engine of this process: one row after the other."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def analyse(self, rows: Sequence[Row]) -> Iterator[tuple[int, Analysed]]:
        """In the order of the rows."""
        analyst = Analyst(self.settings)
        for place, row in enumerate(rows):
            yield place, analyst.analyse(row)


class Analyst:
    """The stages with their models and the store, which all rows of a process share.

    Raises Unavailable or BadInput where one of the implementations is missing, StoreError for the database.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.store = settings, Store.open(settings.database_url)
        SEGMENTERS.build(settings.segmenter, settings)
        CHUNKERS.build(settings.chunker, settings)
        EMBEDDERS.build(settings.embedder, settings)
        VERIFIERS.build(settings.verifier, settings)

    def analyse(self, row: Row) -> Analysed:
        """Whatever a row does costs that row alone. Unavailable or StoreError is raised for what costs all of them, and
        this row is analysed again by the next call."""
        try:
            return Analysed(self._report(row).to_json())
        except BadInput as error:
            return Analysed(problem=str(error))
        except Exception as error:
            if (cause := setup_error(error)) is not None:
                raise cause from error
            said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            return Analysed(problem=f"the analysis ended with an error ({said}); the next call tries this row again")

    def _report(self, row: Row) -> Report:
        settings, documents = self.settings, _documents(row)
        if documents:
            sources = tuple(dict.fromkeys((*settings.sources, "documents")))
            settings = settings.model_copy(update={"sources": sources})
        question = str(row.fields.get("question") or "")
        context = turns_of(row.fields.get("turns"))
        *_, last = run(question, row.fields["answer"], settings, self.store, documents, context=context)
        assert isinstance(last, Finished)
        return last.report


def _documents(row: Row) -> tuple[Document, ...]:
    """The row's own sources: texts, or objects with a name and a text."""
    given = row.fields.get("documents") or []
    documents = []
    for number, one in enumerate(given if isinstance(given, list) else [None], 1):
        name, text = (one.get("name"), one.get("text")) if isinstance(one, dict) else (f"Document {number}", one)
        if not isinstance(text, str) or not isinstance(name, str):
            raise BadInput('"documents" is not a list of texts or of objects with "name" and "text"')
        documents.append(Document(name, text.encode(), "text/plain"))
    return tuple(documents)


try:
    import fcntl
except ImportError:  # Windows: two batches are not told apart there
    fcntl = None  # type: ignore[assignment]


class Output:
    """Open while the batch runs, for this process alone: BadInput where another batch has the file.

    `finished` has each report's place and its verdicts by the key of its row.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        self._file = _open_alone(self.path)
        self.finished = _finished(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what the disk did not take was an error when it was written
            self._file.close()

    def append(self, line: dict[str, Any]) -> int:
        """Write a line to the end of the file; returns where it starts."""
        with named(self.path):
            start = self._file.seek(0, os.SEEK_END)
            self._file.write(_encoded(line))
            self._file.flush()
        return start

    def arrange(self, lines: Sequence[tuple[int, int]]) -> None:
        """Keep the lines that start at these places, in this order, each with its line number in the input."""
        with self.path.open("rb") as all_lines, replacing(self.path) as out:
            for start, number in lines:
                all_lines.seek(start)
                line = all_lines.readline()
                saved = json.loads(line)
                out.write(line if saved["line"] == number else _encoded({**saved, "line": number}))


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
                f"another batch is writing {path}: wait until it has ended, or choose another output"
            ) from None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        file.close()  # the batch before it has just replaced the file


def _encoded(line: dict[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _finished(path: Path) -> dict[str, tuple[int, Counter[Label]]]:
    """The reports of earlier calls."""
    finished: dict[str, tuple[int, Counter[Label]]] = {}
    for start, line in complete_lines(path):
        try:
            saved = json.loads(line)
            finished[saved["key"]] = start, Counter(v["label"] for v in saved["report"]["verdicts"])
        except (ValueError, KeyError, TypeError):
            pass  # an error of an earlier call: the row is analysed again
    return finished
