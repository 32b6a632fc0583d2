"""The queue of waiting runs, in the database, so that the next server process finds it."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from attribution.store import schema as t
from attribution.store.database import Database
from attribution.store.rights import Rights

QUEUE, RUN = t.queue.c, t.runs.c


class QueuedRun(NamedTuple):
    """A run that waits, and the owner it belongs to."""

    run_id: str
    owner: str  # as stored in the database
    attempts: int  # how often it was begun before


class Queue:
    """Runs of all owners in the order in which they were added.

    A run leaves the queue in the transaction that saves its result, or with the run itself.
    """

    def __init__(self, database: Database, rights: Rights) -> None:
        self._database, self._rights = database, rights

    def add(self, run_id: str) -> None:
        """Put a run at the end of the queue, also one that failed there before.

        Raises:
            NotYours: The run is somebody else's or gone.
        """
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id)
            db.execute(t.queue.delete().where(QUEUE.run_id == run_id))
            db.execute(t.queue.insert().values(run_id=run_id))

    def next(self) -> QueuedRun | None:
        """Return the run whose turn it is, whoever owns it; None if no run waits."""
        is_waiting = (QUEUE.problem == "", QUEUE.run_id == RUN.id, RUN.deleted_at == "")
        query = sa.select(RUN.id, RUN.owner, QUEUE.attempts).where(*is_waiting)
        for row in self._database.all(query.order_by(QUEUE.number).limit(1)):
            return QueuedRun(*row)
        return None

    def begin(self, run_id: str) -> None:
        """Count an attempt to finish a run, before it can end the process."""
        self._update(run_id, attempts=QUEUE.attempts + 1)

    def fail(self, run_id: str, problem: str) -> None:
        """Keep why a run could not be finished; it waits no longer."""
        self._update(run_id, problem=problem)

    def _update(self, run_id: str, **values: object) -> None:
        with self._database.transaction() as db:
            db.execute(t.queue.update().where(QUEUE.run_id == run_id).values(**values))

    def remove(self, run_id: str) -> None:
        """Take a run out of the queue; what is known of it stays."""
        with self._database.transaction() as db:
            db.execute(t.queue.delete().where(QUEUE.run_id == run_id))
