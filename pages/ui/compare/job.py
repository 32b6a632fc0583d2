"""Comparisons in the background: of the answer on the page, or of many answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from attribution.errors import BadInput
from attribution.evaluation.comparison import Comparison, ComparisonReady, SegmenterResult, with_verdicts
from attribution.evaluation.experiment import failure, without_page_texts
from attribution.events import Event, RunStarted
from attribution.settings import Settings
from attribution.text.json_lines import Row
from attribution.types import Document
from pages.ui import background
from pages.ui.run.job import RunJob, RunProgress

Compare = Callable[[str, str, threading.Event], Iterator[Event | SegmenterResult | ComparisonReady]]
CompareRow = Callable[[Row, threading.Event], Iterator[Event | SegmenterResult | ComparisonReady]]


@dataclass(frozen=True)
class CompareProgress:
    """A comparison at one moment."""

    run: RunProgress  # of all claims together
    segmenters: tuple[str, ...]  # that were selected
    results: tuple[SegmenterResult, ...] = ()  # of those that are done
    comparison: Comparison | None = None  # with the verdicts so far; None until all claims are known
    finished: bool = False  # every claim was reached
    many: Literal[False] = False  # told apart by value: a class does not outlive Streamlit's reloads

    @property
    def running(self) -> bool:
        return self.run.running


class CompareJob:
    """One comparison: a run whose claims are divided among its segmenters. It is saved under its id when it ends."""

    def __init__(
        self,
        id: str,
        question: str,
        answer: str,
        settings: Settings,
        documents: Sequence[Document],
        segmenters: Sequence[str],
        compare: Compare,
        save: Callable[[Comparison], None],
    ) -> None:
        self.id = id
        self.segmenters = tuple(segmenters)
        self._results: tuple[SegmenterResult, ...] = ()
        self._compared: ComparisonReady | None = None  # both are replaced whole, by the job's thread alone

        def run(
            question: str, answer: str, _settings: Settings, _documents: Sequence[Document], stop: threading.Event
        ) -> Iterator[Event]:
            for event in compare(question, answer, stop):
                match event:
                    case SegmenterResult():
                        self._results = (*self._results, event)
                    case RunStarted():
                        pass  # a comparison has an address of its own
                    case ComparisonReady():
                        self._compared = event
                        if event.finished:
                            save(event.comparison)
                    case _:
                        yield event

        self._job = RunJob(question, answer, settings, documents, run)
        background.register(id, self)

    def stop(self) -> None:
        """Ask it to end with the results it has."""
        self._job.stop()

    @property
    def running(self) -> bool:
        return self._job.running

    def progress(self) -> CompareProgress:
        compared, run = self._compared, self._job.progress()
        if compared is None:
            return CompareProgress(run, self.segmenters, self._results)
        comparison = compared.comparison if compared.finished else with_verdicts(compared.comparison, run.report)
        finished = compared.finished and not comparison.report.stopped
        return CompareProgress(run, self.segmenters, self._results, comparison, finished)


@dataclass(frozen=True)
class ExperimentProgress(background.Progress):
    """A comparison of many answers at one moment."""

    total: int
    done: int = 0
    comparisons: tuple[Comparison, ...] = ()
    failed: tuple[tuple[int, str, str], ...] = ()  # line, answer and error of those that could not be compared
    many: Literal[True] = True


class ExperimentJob(background.Job[ExperimentProgress]):
    """Answer by answer, each saved when it is done; one in progress when it is stopped is left out."""

    def __init__(
        self,
        id: str,
        rows: Sequence[Row],
        compare: CompareRow,
        save: Callable[[Sequence[Comparison]], None],
    ) -> None:
        self.id = id

        def work(stop: threading.Event, update: Callable[..., ExperimentProgress]) -> None:
            now = update()
            for number, row in enumerate(rows, 1):
                try:
                    if row.error:
                        raise BadInput(row.error)
                    *_, last = compare(row, stop)
                except BadInput as error:
                    now = update(done=number, failed=(*now.failed, failure(row, str(error))))
                    continue
                if stop.is_set():
                    return
                if isinstance(last, ComparisonReady):
                    now = update(done=number, comparisons=(*now.comparisons, without_page_texts(last.comparison)))
                    save(now.comparisons)

        super().__init__("experiment", ExperimentProgress(len(rows)), work)
        background.register(id, self)
