"""Work off many answers one after another, in a thread that a new server process takes up again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial

from attribution.errors import AttributionError, Busy
from attribution.events import ClaimsReady, Event, VerdictReady
from attribution.pipeline.answer_files import NewAnswer
from attribution.pipeline.permissions import of_saved_run
from attribution.settings import Settings
from attribution.store.runs import QueuedRun, new_run_id
from attribution.store.store import Store
from attribution.types import Report
from attribution.verifiers import with_policy

ATTEMPTS = 3  # to finish a run, while each of them ends the process
PAUSE = 5.0  # seconds until a run that found the server busy is tried again
_log = logging.getLogger(__name__)


def enqueue(store: Store, answers: Sequence[NewAnswer], settings: Settings) -> list[str]:
    """Save answers as runs that wait in the queue, each of them as soon as it is reached.

    Args:
        store: The database, acting for the owner of the runs.
        answers: Their own sources, if they name any, replace those of the settings.
        settings: The settings of all runs.

    Returns:
        The ids of the runs.

    Raises:
        BadInput: The owner's runs take too much of the disk.
    """
    ids: list[str] = []
    for answer in answers:
        sources = answer.sources or settings.sources
        if answer.documents:
            sources = tuple(dict.fromkeys((*sources, "documents")))
        own_settings = with_policy(settings.model_copy(update={"sources": sources}))
        blank = Report(
            id=new_run_id(),
            created_at=datetime.now(UTC).isoformat(),  # exact, for the order of the list
            question=answer.question,
            answer=answer.answer,
            settings=own_settings.public(),
            versions={},
        )
        store.runs.start(blank)
        store.runs.save_documents(blank.id, answer.documents)
        store.history.describe(blank.id, answer.title, answer.tags, "")
        store.queue.add(blank.id)
        ids.append(blank.id)
    return ids


@dataclass
class Working:
    """The run that is being worked off.

    Attributes:
        total: The number of claims that are compared with the sources; 0 until they are known.
    """

    run_id: str
    stop: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=time.monotonic)
    done: int = 0
    total: int = 0

    def count(self, event: Event) -> None:
        """Count the claims and verdicts of an event."""
        if isinstance(event, ClaimsReady):
            self.total = sum(claim.checked for claim in event.claims)
        elif isinstance(event, VerdictReady) and event.evidence:
            self.done = min(self.done + 1, self.total)

    def seconds_left(self) -> float | None:
        """Return the seconds left at the pace so far; None until a claim is done."""
        if not self.done:
            return None
        elapsed = time.monotonic() - self.started
        return elapsed / self.done * (self.total - self.done)


class QueueWorker:
    """Runs what waits in the queue of a database, in one thread of this process."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.current: Working | None = None

    def wake(self) -> None:
        """Go on with the queue, unless that is being done already."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="queue", daemon=True)
                self._thread.start()

    def stop(self, run_id: str) -> bool:
        """End a run with the results it has; False if it is not the one being worked off."""
        current = self.current
        if current is None or current.run_id != run_id:
            return False
        current.stop.set()
        return True

    def _work(self) -> None:
        store = Store.open(self._url)
        while True:
            with self._lock:  # whoever adds a run later wakes a new thread
                queued = store.queue.next()
                if queued is None:
                    self._thread = None
                    return
            self.current = Working(queued.run_id)
            try:
                self._finish(queued, Store(store.database, owner=queued.owner), self.current)
            finally:
                self.current = None

    def _finish(self, queued: QueuedRun, store: Store, working: Working) -> None:
        """Finish a run, or keep why that was not possible."""
        from attribution.pipeline.run import in_turn, run  # takes seconds: not while pages wait

        runs = store.runs
        known = runs.load_unfinished(queued.run_id) or runs.load(queued.run_id)
        if known is None:  # deleted meanwhile
            return
        if queued.attempts >= ATTEMPTS:
            store.queue.fail(queued.run_id, f"The server ended {ATTEMPTS} times during this run.")
            return
        store.queue.begin(queued.run_id)
        try:
            start = partial(
                run,
                known.question,
                known.answer,
                of_saved_run(known.settings, Settings.from_environment()),
                store,
                runs.documents(known.id),
                working.stop,
                run_id=known.id,
                context=known.context,
            )
            for event in in_turn(queued.owner, working.stop, start):
                working.count(event)
        except Busy:
            store.queue.add(queued.run_id)
            working.stop.wait(PAUSE)
        except AttributionError as error:
            store.queue.fail(queued.run_id, error.public())
        except Exception:
            _log.exception("a run of the queue failed")
            store.queue.fail(queued.run_id, "An unexpected error. The log of the server has it.")
        else:
            store.queue.remove(queued.run_id)  # it was stopped before its turn


@cache
def queue_worker(url: str) -> QueueWorker:
    """Return the worker of this process for the queue of a database."""
    return QueueWorker(url)
