"""The check of a run's citations in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from attribution.citations.check import Step
from attribution.citations.report import CitationReport
from attribution.types import Report
from pages.ui import background

Check = Callable[[Report, threading.Event], Iterator[Step | CitationReport]]


@dataclass(frozen=True)
class Progress(background.Progress):
    step: Step | None = None
    result: CitationReport | None = None


class CitationsJob(background.Job[Progress]):
    """Checks the citations of one state of a run, named by `key`."""

    def __init__(self, report: Report, key: str, check: Check) -> None:
        def work(stop: threading.Event, update: Callable[..., Progress]) -> None:
            for event in check(report, stop):
                update(**({"step": event} if isinstance(event, Step) else {"result": event}))

        self.key = key
        super().__init__("citations", Progress(), work)
