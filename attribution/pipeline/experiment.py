"""Run a function over rows: a bad row leaves the others unaffected, and a killed run resumes where
it stopped.

`run_each` is the loop, `run_rows` adds the file: a line for each row, found again by its key.
`on_ray` runs the rows on many machines. `batch` checks answers, one report each.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from filelock import FileLock, Timeout

from attribution.conversation import turns_of
from attribution.embedders import EMBEDDERS
from attribution.errors import (
    AttributionError,
    BadInput,
    StageFailure,
    Stopped,
    Unavailable,
    setup_error,
)
from attribution.events import finished
from attribution.models.engine import cores, stoppable
from attribution.retrieval.chunkers import CHUNKERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text_files import Row, complete_lines, json_line, named, replacing
from attribution.types import Claim, Document, Report, content_id
from attribution.verifiers import VERIFIERS

if TYPE_CHECKING:
    import pyarrow as pa
    import ray.data

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


def on_cores(rows: Sequence[Row], prepare: Prepare) -> Iterator[tuple[int, Result[Fields]]]:
    """The engine of this process for rows that may run side by side: one on each core."""
    work = prepare()
    stop = threading.Event()

    def stoppably(row: Row) -> Result[Fields]:
        with stoppable(stop):
            return attempt(work, row)

    pool = ThreadPoolExecutor(cores(), thread_name_prefix="row")
    try:
        yield from enumerate(pool.map(stoppably, rows))
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


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


def run_rows(
    rows: Sequence[Row],
    prepare: Prepare,
    choices: object,
    path: Path,
    inputs: Collection[str] = (),
    engine: Engine = local,
) -> Iterator[RowDone]:
    """Run every row, and append a line each as it ends: its other fields with `line`, a `key` and
    the result, or an `error`.

    Rows that an earlier call finished do not run again, whatever the engine.

    Args:
        rows: The rows, of which some may have an error.
        prepare: Returns the function that makes the fields of a row's line.
        choices: Everything but the row that a result depends on, as JSON.
        path: The file of results.
        inputs: Fields of a row that its result repeats, so that the line leaves them out.
        engine: What runs the rows.

    Yields:
        The progress after each row.

    Raises:
        Unavailable, BadInput: A model, key or name is missing, or another run writes the file.
    """
    own = json.dumps(choices, sort_keys=True)
    keys = [content_id(json.dumps(row.fields, sort_keys=True), own) for row in rows]
    with locked(path):
        finished = _keep_finished(path, rows, keys)
        total, done, failed = len(rows), len(finished), 0
        if done:
            yield RowDone(done, total, failed)
        for place, result in _results(rows, finished, prepare, engine):
            row = rows[place]
            done += 1
            if result.problem:
                failed += 1
                append(path, row.failed(result.problem))
                yield RowDone(done, total, failed, f"line {row.line}: {result.problem}")
                continue
            others = {name: value for name, value in row.fields.items() if name not in inputs}
            own_fields = {"line": row.line, "key": keys[place], **(result.value or {})}
            append(path, others | own_fields)
            yield RowDone(done, total, failed)


def _keep_finished(path: Path, rows: Sequence[Row], keys: Sequence[str]) -> set[int]:
    """Keep the lines of rows that are finished; return the places of these rows."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    finished = set()
    with replacing(path) as out:
        for line in read_lines(path):
            if is_result(line) and places[str(line["key"])]:
                place = places[str(line["key"])].pop(0)
                finished.add(place)
                out.write(json_line({**line, "line": rows[place].line}).encode())
    return finished


def _results(
    rows: Sequence[Row], finished: Collection[int], prepare: Prepare, engine: Engine
) -> Iterator[tuple[int, Result[Fields]]]:
    """Yield the places of the rows that are not finished, each with its result: bad rows first."""
    waiting: list[int] = []
    for place, row in enumerate(rows):
        if row.error:
            yield place, Result(problem=row.error)
        elif place not in finished:
            waiting.append(place)
    if waiting:
        for number, result in engine([rows[place] for place in waiting], prepare):
            yield waiting[number], result


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
        file.write(json_line(line).encode())


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


# --- on a Ray cluster ---

CONNECT_TIMEOUT = 10  # seconds
RETRIES = 2  # of a row whose worker died
BLOCKS = 10_000  # rows are handed over one by one; beyond so many, several together
LOST = "its worker process died, perhaps for lack of memory; the next call tries this row again"
ENVIRONMENT = {  # read when a cluster is started
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # Ray's own 15 is slow beside other work
}


def on_ray(
    settings: Settings, rows: Sequence[Row], prepare: Prepare
) -> Iterator[tuple[int, Result[Fields]]]:
    """The engine of a cluster: several actors, each with its own models.

    A row whose worker dies again and again is a problem of its own. What is missing on this machine
    is said before any row.

    Args:
        settings: Those of all rows.
        rows: The rows.
        prepare: Loads what all rows of an actor share.

    Yields:
        The results, in the order in which the workers finish.

    Raises:
        Unavailable: Ray is not installed, or its cluster does not answer.
        BadInput: The machines of the cluster cannot share the database.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray.data
    except ImportError as error:
        raise Unavailable(
            "the engine 'ray' is not installed: pip install -r requirements-ray.txt "
            "(docs/command_line.md)",
            error,
        ) from None
    prepare()
    _connect()
    try:
        data = _dataset(rows, prepare, _workers(settings))
        waiting = set(range(len(rows)))
        for batch in data.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
            for row in batch.to_pylist():
                waiting.discard(row["place"])
                yield row["place"], Result(json.loads(row["value"]), row["problem"])
        for place in sorted(waiting):
            yield place, Result(problem=LOST)
    finally:
        ray.shutdown()


def _connect() -> None:
    """Connect to the cluster of RAY_ADDRESS, else start one on this machine for this process."""
    import ray

    address = os.environ.get("RAY_ADDRESS") or "local"
    try:
        _check_reachable(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise Unavailable(
            f"no Ray cluster answers at {address!r}: start one with `ray start --head`, and give "
            "its address as RAY_ADDRESS=HOST:6379, or leave it out to use this machine alone",
            error,
        ) from None


def _workers(settings: Settings) -> int:
    """Return the number of workers, one for each processor.

    Raises:
        BadInput: The machines of the cluster cannot share the database.
    """
    import ray

    machines = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
    if len(machines) > 1 and settings.database_url.startswith("sqlite"):
        raise BadInput(
            f"the cluster has {len(machines)} machines, which cannot share an SQLite file: set "
            "ATTRIBUTION_DATABASE_URL to a PostgreSQL database that all of them reach "
            "(docs/command_line.md)"
        )
    return int(ray.cluster_resources()["CPU"])


def _dataset(rows: Sequence[Row], prepare: Prepare, workers: int) -> ray.data.Dataset:
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.max_errored_blocks = -1  # a row that kills its worker costs itself
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # its errors are those of rows
    items = [{"place": place, "fields": json.dumps(row.fields)} for place, row in enumerate(rows)]
    data = ray.data.from_items(items, override_num_blocks=min(len(items), BLOCKS))
    return data.map_batches(
        Worker,
        fn_constructor_args=(prepare,),
        batch_size=1,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=1),
        num_cpus=1,
        max_task_retries=RETRIES,
    )


def _check_reachable(address: str) -> None:
    """Raise OSError if nothing listens at HOST:PORT: Ray itself would wait for many minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT).close()


class Worker:
    """An actor that reads rows as Arrow tables and returns their results as such."""

    def __init__(self, prepare: Prepare) -> None:
        self.prepare = prepare
        self.work: Work | None = None

    def __call__(self, rows: pa.Table) -> pa.Table:
        import pyarrow as pa

        return pa.Table.from_pylist([self.run(**row) for row in rows.to_pylist()])

    def run(self, place: int, fields: str) -> dict[str, str | int]:
        """Return the result of one row."""
        try:
            self.work = self.work or self.prepare()
            result = attempt(self.work, Row(place, json.loads(fields)))
        except AttributionError as error:
            result = Result(problem=str(error))
        return {"place": place, "value": json.dumps(result.value), "problem": result.problem}


# --- answers ---

DOCUMENTS = '"documents" is not a list of texts or of objects with "name" and "text"'
INPUTS = ("question", "answer", "documents", "turns")  # the report has them


def batch(
    rows: Sequence[Row], settings: Settings, path: Path, engine: Engine = on_cores
) -> Iterator[RowDone]:
    """Analyse every row, and write a line each.

    Args:
        rows: Each has an `answer` and may have a `question`, `documents` and earlier `turns`.
        settings: Of all rows.
        path: The file of results; rows that are finished in it are left out.
        engine: What runs the rows.

    Returns:
        An iterator of the progress.

    Raises:
        Unavailable, BadInput: A model, key or name is missing, or another run writes the file.
    """
    prepare = partial(Analyst, settings)
    return run_rows(rows, prepare, settings.identity, path, INPUTS, engine)


class Analyst:
    """The stages with their models and the store, which all rows of a process share."""

    def __init__(self, settings: Settings) -> None:
        """Build the models, so that what is missing is said before any row.

        Raises:
            Unavailable, BadInput: One of the implementations is missing.
            StoreError: The database cannot be used.
        """
        self.settings = settings
        self.store = Store.open(settings.database_url)
        SEGMENTERS.chosen(settings)
        CHUNKERS.chosen(settings)
        EMBEDDERS.chosen(settings)
        VERIFIERS.chosen(settings)

    def __call__(self, row: Row) -> Fields:
        """Return the report of a row."""
        return {"report": json.loads(check(row, self.settings, self.store).to_json())}


def check(
    row: Row,
    settings: Settings,
    store: Store | None = None,
    documents: Sequence[Document] = (),
    claims: Sequence[Claim] | None = None,
) -> Report:
    """Check the answer of a row.

    Args:
        row: Its `documents` are sources too.
        settings: Those of the run.
        store: By default that of the settings.
        documents: More documents.
        claims: The claims; by default those of the segmenter.

    Raises:
        BadInput: The documents or the turns have another form.
    """
    from attribution.pipeline.run import run  # takes seconds: not while pages wait

    of_row = documents_of(row)
    if of_row:
        sources = tuple(dict.fromkeys((*settings.sources, "documents")))
        settings = settings.model_copy(update={"sources": sources})
    question = str(row.fields.get("question") or "")
    answer = str(row.fields["answer"])
    context = turns_of(row.fields.get("turns"))
    all_documents = [*of_row, *documents]
    steps = run(question, answer, settings, store, all_documents, claims=claims, context=context)
    return finished(steps)


def documents_of(row: Row) -> tuple[Document, ...]:
    """Return the row's own sources: texts, or objects with a name and a text.

    Raises:
        BadInput: They are anything else.
    """
    given = row.fields.get("documents") or []
    if not isinstance(given, list):
        raise BadInput(DOCUMENTS)
    documents = []
    for number, document in enumerate(given, 1):
        if isinstance(document, str):
            document = {"name": f"Document {number}", "text": document}
        match document:
            case {"name": str(name), "text": str(text)}:
                documents.append(Document(name, text.encode(), "text/plain"))
            case _:
                raise BadInput(DOCUMENTS)
    return tuple(documents)
