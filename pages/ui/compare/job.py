"""Comparisons in the background of one session: of the answer on the page, or of many answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from attribution.errors import BadInput
from attribution.evaluation.comparison import Comparison, ComparisonReady, SegmenterResult, with_verdicts
from attribution.evaluation.experiment import without_page_texts
from attribution.events import Event
from attribution.settings import Settings
from attribution.types import Document
from pages.ui import background
from pages.ui.run.job import Job, State

Compare = Callable[[str, str, threading.Event], Iterator[Event | SegmenterResult | ComparisonReady]]


@dataclass(frozen=True)
class Known:
    """What a comparison knows at one moment."""

    run: State  # of all claims together
    segmenters: tuple[str, ...]  # that were chosen
    cut: tuple[SegmenterResult, ...] = ()  # by those that are done
    comparison: Comparison | None = None  # with the verdicts so far; None until all claims are known
    finished: bool = False  # every claim was reached
    many: Literal[False] = False  # told apart by value: a class does not outlive Streamlit's reloads

    @property
    def running(self) -> bool:
        return self.run.running


class CompareJob:
    """One comparison: a run whose claims are shared out among its segmenters."""

    def __init__(
        self,
        question: str,
        answer: str,
        settings: Settings,
        documents: Sequence[Document],
        segmenters: Sequence[str],
        compare: Compare,
    ) -> None:
        self.segmenters = tuple(segmenters)
        self._compare = compare
        self._cut: tuple[SegmenterResult, ...] = ()
        self._compared: ComparisonReady | None = None  # both are replaced whole, by the job's thread alone
        self._job = Job(question, answer, settings, documents, self._run)

    def stop(self) -> None:
        """Ask it to end with what it has."""
        self._job.stop()

    @property
    def running(self) -> bool:
        return self._job.state().running

    def progress(self) -> Known:
        compared, run = self._compared, self._job.state()
        if compared is None:
            return Known(run, self.segmenters, self._cut)
        comparison = compared.comparison if compared.finished else with_verdicts(compared.comparison, run.report)
        return Known(run, self.segmenters, self._cut, comparison, compared.finished and not comparison.report.stopped)

    def _run(
        self, question: str, answer: str, _settings: Settings, _documents: Sequence[Document], stop: threading.Event
    ) -> Iterator[Event]:
        for event in self._compare(question, answer, stop):
            match event:
                case SegmenterResult():
                    self._cut = (*self._cut, event)
                case ComparisonReady():
                    self._compared = event
                case _:
                    yield event


@dataclass(frozen=True)
class Progress(background.Progress):
    """How far a comparison of many answers is."""

    total: int
    done: int = 0
    made: tuple[Comparison, ...] = ()
    skipped: tuple[str, ...] = ()  # answers that could not be compared, with the reason
    many: Literal[True] = True


class ExperimentJob(background.Worker[Progress]):
    """Answer by answer; one that is under way when it is stopped is left out."""

    def __init__(self, rows: Sequence[tuple[str, str]], compare: Compare) -> None:
        def work(stop: threading.Event, tell: Callable[..., Progress]) -> None:
            now = tell()
            for number, (question, answer) in enumerate(rows, 1):
                try:
                    *_, last = compare(question, answer, stop)
                except BadInput as error:
                    now = tell(done=number, skipped=(*now.skipped, f"Answer {number}: {error}"))
                    continue
                if stop.is_set():
                    return
                if isinstance(last, ComparisonReady):
                    now = tell(done=number, made=(*now.made, without_page_texts(last.comparison)))

        super().__init__("experiment", Progress(len(rows)), work)
