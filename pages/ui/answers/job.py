"""Two answers compared in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.evaluation.two_answers import TwoAnswers, TwoAnswersReady, with_report
from attribution.events import Event, RunStarted
from attribution.settings import Settings
from attribution.types import Document
from pages.ui import background
from pages.ui.run.job import RunJob, RunProgress

CompareAnswers = Callable[[str, str, str, threading.Event], Iterator[Event | TwoAnswersReady]]


@dataclass(frozen=True)
class AnswersProgress:
    """A comparison of two answers at one moment."""

    run: RunProgress  # of all claims together
    result: TwoAnswers | None = None  # with the verdicts so far; None until all claims are known

    @property
    def running(self) -> bool:
        return self.run.running


class AnswersJob:
    """One run over the claims of both answers. It is saved under its id when it ends."""

    def __init__(
        self,
        id: str,
        question: str,
        answers: tuple[str, str],
        settings: Settings,
        documents: Sequence[Document],
        compare: CompareAnswers,
        save: Callable[[TwoAnswers], None],
    ) -> None:
        self.id, self.question, self.answers = id, question, answers
        self._ready: TwoAnswersReady | None = None  # replaced whole, by the job's thread alone

        def run(
            question: str, _answer: str, _settings: Settings, _documents: Sequence[Document], stop: threading.Event
        ) -> Iterator[Event]:
            for event in compare(question, *answers, stop):
                match event:
                    case RunStarted():
                        pass  # the comparison has an address of its own
                    case TwoAnswersReady():
                        self._ready = event
                        if event.finished:
                            save(event.result)
                    case _:
                        yield event

        self._job = RunJob(question, answers[0], settings, documents, run)
        background.register(id, self)

    def stop(self) -> None:
        """Ask it to end with the verdicts it has."""
        self._job.stop()

    @property
    def running(self) -> bool:
        return self._job.running

    def progress(self) -> AnswersProgress:
        ready, run = self._ready, self._job.progress()
        if ready is None or ready.finished:
            return AnswersProgress(run, ready.result if ready else None)
        return AnswersProgress(run, with_report(ready.result, run.report))
