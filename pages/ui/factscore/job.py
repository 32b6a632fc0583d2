"""FActScore in the background, answer by answer; each is saved when it is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.errors import BadInput
from attribution.evaluation.experiment import failure
from attribution.evaluation.factscore.answer import AnswerScored, ScoredAnswer
from attribution.evaluation.factscore.saved import Scored
from attribution.events import Event, Progress, Queued, StageStarted
from attribution.text.json_lines import Row
from pages.ui import background

Score = Callable[[Row, threading.Event], Iterator[Event | AnswerScored]]


@dataclass(frozen=True)
class ScoreProgress(background.Progress):
    """The scores at one moment."""

    scored: Scored
    total: int
    done: int = 0
    stage: str = ""  # of the answer in progress
    units: tuple[int, int] = (0, 0)  # done and total of that stage
    failed: tuple[tuple[int, str, str], ...] = ()  # line, answer and error of those that could not be scored


class ScoreJob(background.Job[ScoreProgress]):
    """An answer in progress when it is stopped is left out; one that cannot be scored costs itself."""

    def __init__(
        self, id: str, rows: Sequence[Row], empty: Scored, score: Score, save: Callable[[Scored], None]
    ) -> None:
        self.id = id

        def work(stop: threading.Event, update: Callable[..., ScoreProgress]) -> None:
            now = update()
            for number, row in enumerate(rows, 1):
                if stop.is_set():
                    return
                answer, problem = None, row.error
                try:
                    answer = None if problem else _scored(score(row, stop), update)
                except BadInput as error:
                    problem = str(error)
                if problem:
                    now = update(failed=(*now.failed, failure(row, problem)))
                if answer:
                    now = update(scored=now.scored.with_answer(answer))
                    save(now.scored)
                elif not problem:
                    return  # it was stopped
                now = update(done=number, stage="", units=(0, 0))

        super().__init__("factscore", ScoreProgress(scored=empty, total=len(rows)), work)
        background.register(id, self)


def _scored(steps: Iterator[Event | AnswerScored], update: Callable[..., ScoreProgress]) -> ScoredAnswer | None:
    for step in steps:
        match step:
            case AnswerScored(answer):
                return answer
            case Queued(place):
                update(stage="queue", units=(place, 0))
            case StageStarted(stage):
                update(stage=stage, units=(0, 0))
            case Progress(stage, done, total):
                update(stage=stage, units=(done, total))
    return None
