"""The engine `ray`: the rows of an experiment go through Ray Data to actors, which load the models
once each.

Imported only where it is chosen; `requirements-ray.txt` has what it needs.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from attribution import errors
from attribution.errors import AttributionError, BadInput, StoreError, Unavailable
from attribution.files import Row
from attribution.pipeline.experiment import Fields, Prepare, Result, Work, attempt
from attribution.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

CONNECT_TIMEOUT = 10  # seconds
RETRIES = 2  # of a row whose worker died
BLOCKS = 10_000  # rows are handed over one by one; beyond so many, several together
FATAL = (Unavailable, BadInput, StoreError)  # what ends the batch, as in this process
LOST = "its worker process died, perhaps for lack of memory; the next call tries this row again"


class OnRay:
    """The engine of a cluster: `workers` actors (0: one for each of its processors), each with its
    own models.

    `address` is that of a running cluster; without one, RAY_ADDRESS counts, else a cluster of this
    machine alone is
    started and ended with the batch. Unavailable where Ray is missing or there is no cluster.
    """

    def __init__(self, settings: Settings, workers: int = 0, address: str = "") -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # all are read when a cluster is started
        os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's own 15 is slow beside other work
        os.environ.setdefault(
            "RAY_BACKEND_LOG_LEVEL", "fatal"
        )  # else it warns of what Ray Data itself does
        try:
            import ray.data  # noqa: F401  # without its extra, this fails
        except ImportError as error:
            raise Unavailable(
                "the engine 'ray' is not installed: pip install -r requirements-ray.txt (docs/batch.md)",
                error,
            ) from None
        self.settings, self.workers, self.address = settings, workers, address

    def run(self, rows: Sequence[Row], prepare: Prepare) -> Iterator[tuple[int, Result[Fields]]]:
        """In the order in which the workers finish. A row whose worker dies again and again is a
        problem of its own.
        """
        import ray

        own = not ray.is_initialized()
        if own:
            self._connect()
        try:
            yield from self._run(rows, prepare, self._size())
        finally:
            if own:
                ray.shutdown()

    def _connect(self) -> None:
        import ray

        address = self.address or os.environ.get("RAY_ADDRESS") or "local"
        try:
            _check_reachable(address)
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({"include_dashboard": False} if address == "local" else {}),
            )
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            raise Unavailable(
                f"no Ray cluster answers at {address!r}: start one with `ray start --head`, and give its address as "
                "--address HOST:6379, or leave it out to use this machine alone",
                error,
            ) from None

    def _size(self) -> int:
        """The number of workers; BadInput for more than the cluster has processors, or a database
        it cannot share.
        """
        import ray

        processors = int(ray.cluster_resources().get("CPU", 0))
        machines = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
        if len(machines) > 1 and self.settings.database_url.startswith("sqlite"):
            raise BadInput(
                f"the cluster has {len(machines)} machines, which cannot share an SQLite file: set "
                "ATTRIBUTION_DATABASE_URL to a PostgreSQL database that all of them reach (docs/batch.md)"
            )
        if self.workers > processors:
            raise BadInput(
                f"--workers {self.workers}: the cluster has {processors} processors, one for each worker"
            )
        return self.workers or max(1, processors)

    def _run(
        self, rows: Sequence[Row], prepare: Prepare, workers: int
    ) -> Iterator[tuple[int, Result[Fields]]]:
        import ray.data

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # its errors are those of rows
        context.max_errored_blocks = (
            -1
        )  # a row that kills its worker costs itself, and with one task each no other
        items = [
            {"place": n, "line": row.line, "fields": json.dumps(row.fields)}
            for n, row in enumerate(rows)
        ]
        data = ray.data.from_items(items, override_num_blocks=min(len(items), BLOCKS))
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # the pinned version has no other way to limit the retries
            results = data.map_batches(
                Worker,
                fn_constructor_args=(prepare,),
                batch_size=1,
                batch_format="pyarrow",
                compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=1),
                num_cpus=1,
                max_task_retries=RETRIES,
            )
        waiting = set(range(len(rows)))
        for found in results.iter_batches(
            batch_size=None, batch_format="pyarrow", prefetch_batches=0
        ):
            for one in found.to_pylist():
                if one["fatal"]:
                    raise getattr(errors, one["fatal"])(one["problem"])
                waiting.discard(one["place"])
                yield one["place"], Result(json.loads(one["value"]), one["problem"])
        for place in sorted(waiting):
            yield place, Result(problem=LOST)


def _check_reachable(address: str) -> None:
    """OSError where nothing listens at HOST:PORT: Ray itself would wait for many minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT).close()


class Worker:
    """An actor: reads rows as Arrow tables, returns their results as such. What would end the batch
    is `fatal`.
    """

    def __init__(self, prepare: Prepare) -> None:
        self.work: Work | None = None
        try:
            self.work = prepare()
        except FATAL as error:
            self.missing: AttributionError = error

    def __call__(self, rows: pa.Table) -> pa.Table:
        import pyarrow as pa

        return pa.Table.from_pylist([self.run(**row) for row in rows.to_pylist()])

    def run(self, place: int, line: int, fields: str) -> dict[str, str | int]:
        try:
            if self.work is None:
                raise self.missing
            result = attempt(self.work, Row(line, json.loads(fields)))
        except FATAL as error:
            return {"place": place, "value": "null", "problem": str(error), "fatal": _name(error)}
        return {
            "place": place,
            "value": json.dumps(result.value),
            "problem": result.problem,
            "fatal": "",
        }


def _name(error: AttributionError) -> str:
    """The class that the command line knows it by; those with other arguments lose only their own
    type.
    """
    return next(kind.__name__ for kind in FATAL if isinstance(error, kind))
