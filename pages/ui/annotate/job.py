"""Verifiers on the tasks of a project, in the background; each verdict is saved at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.evaluation.ais.models import TaskVerdict
from attribution.evaluation.ais.tasks import Task
from pages.ui import background

Verify = Callable[[Sequence[Task], threading.Event], Iterator[TaskVerdict]]


@dataclass(frozen=True)
class VerifyProgress(background.Progress):
    """How far it is."""

    verifier: str
    total: int
    done: int = 0


class VerifyJob(background.Job[VerifyProgress]):
    """One verifier on many tasks."""

    def __init__(self, verifier: str, tasks: Sequence[Task], verify: Verify) -> None:
        def work(stop: threading.Event, update: Callable[..., VerifyProgress]) -> None:
            for done, _ in enumerate(verify(tasks, stop), 1):
                update(done=done)

        super().__init__("verify tasks", VerifyProgress(verifier, len(tasks)), work)
