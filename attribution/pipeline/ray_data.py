"""The engine `ray`: the rows of an experiment go through Ray Data to actors, which load the models
once each.

Imported only where it is chosen; `requirements-ray.txt` has what it needs.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from attribution.errors import AttributionError, BadInput, Unavailable
from attribution.pipeline.experiment import Fields, Prepare, Result, Work, attempt
from attribution.settings import Settings
from attribution.text_files import Row

if TYPE_CHECKING:
    import pyarrow as pa
    import ray.data

CONNECT_TIMEOUT = 10  # seconds
RETRIES = 2  # of a row whose worker died
BLOCKS = 10_000  # rows are handed over one by one; beyond so many, several together
LOST = "its worker process died, perhaps for lack of memory; the next call tries this row again"
ENVIRONMENT = {  # read when a cluster is started
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # Ray's own 15 is slow beside other work
}


class OnRay:
    """The engine of a cluster: several actors, each with its own models."""

    def __init__(self, settings: Settings) -> None:
        """Choose the cluster of RAY_ADDRESS, else one of this machine, which ends with the batch.

        Raises:
            Unavailable: Ray is not installed.
        """
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        try:
            import ray.data  # noqa: F401  # without its extra, this fails
        except ImportError as error:
            raise Unavailable(
                "the engine 'ray' is not installed: pip install -r requirements-ray.txt "
                "(docs/command_line.md)",
                error,
            ) from None
        self.settings = settings
        self.address = os.environ.get("RAY_ADDRESS") or "local"

    def run(self, rows: Sequence[Row], prepare: Prepare) -> Iterator[tuple[int, Result[Fields]]]:
        """Yield the results in the order in which the workers finish.

        A row whose worker dies again and again is a problem of its own. What is missing on this
        machine is said before any row.
        """
        import ray

        prepare()
        self._connect()
        try:
            yield from self._run(rows, prepare)
        finally:
            ray.shutdown()

    def _connect(self) -> None:
        import ray

        try:
            _check_reachable(self.address)
            ray.init(address=self.address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            raise Unavailable(
                f"no Ray cluster answers at {self.address!r}: start one with `ray start --head`, "
                "and give its address as RAY_ADDRESS=HOST:6379, or leave it out to use this "
                "machine alone",
                error,
            ) from None

    def _run(self, rows: Sequence[Row], prepare: Prepare) -> Iterator[tuple[int, Result[Fields]]]:
        waiting = set(range(len(rows)))
        batches = self._dataset(rows, prepare, self._size()).iter_batches(
            batch_size=None, batch_format="pyarrow", prefetch_batches=0
        )
        for batch in batches:
            for row in batch.to_pylist():
                waiting.discard(row["place"])
                yield row["place"], Result(json.loads(row["value"]), row["problem"])
        for place in sorted(waiting):
            yield place, Result(problem=LOST)

    def _size(self) -> int:
        """Return the number of workers, one for each processor.

        Raises:
            BadInput: The machines of the cluster cannot share the database.
        """
        import ray

        machines = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
        if len(machines) > 1 and self.settings.database_url.startswith("sqlite"):
            raise BadInput(
                f"the cluster has {len(machines)} machines, which cannot share an SQLite file: set "
                "ATTRIBUTION_DATABASE_URL to a PostgreSQL database that all of them reach "
                "(docs/command_line.md)"
            )
        return int(ray.cluster_resources()["CPU"])

    def _dataset(self, rows: Sequence[Row], prepare: Prepare, workers: int) -> ray.data.Dataset:
        import ray.data

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.max_errored_blocks = -1  # a row that kills its worker costs itself
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # its errors are those of rows
        items = []
        for place, row in enumerate(rows):
            items.append({"place": place, "fields": json.dumps(row.fields)})
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
