"""FActScore in the background, answer by answer; each is saved when it is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
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
    stage: str = ""  # of the answer in progress
    units: tuple[int, int] = (0, 0)  # done and total of that stage

    @property
    def total(self) -> int:
        return len(self.scored.rows) or len(self.scored.answers)

    @property
    def done(self) -> int:
        return self.scored.done or len(self.scored.answers)


class ScoreJob(background.Job[ScoreProgress]):
    """An answer in progress when it is stopped is left out; one that cannot be scored costs itself."""

    def __init__(self, id: str, begun: Scored, score: Score, save: Callable[[Scored], None]) -> None:
        """`begun` has the rows, and what an earlier start has done of them."""
        self.id = id

        def work(stop: threading.Event, update: Callable[..., ScoreProgress]) -> None:
            now = update()
            save(now.scored)
            for row in begun.rows[begun.done :]:
                if stop.is_set():
                    return
                answer, problem = None, row.error
                try:
                    answer = None if problem else _scored(score(row, stop), update)
                except BadInput as error:
                    problem = str(error)
                if problem:
                    scored = now.scored.with_failure(failure(row, problem))
                elif answer:
                    scored = now.scored.with_answer(answer)
                else:
                    return  # it was stopped
                now = update(scored=scored, stage="", units=(0, 0))
                save(now.scored)

        super().__init__("factscore", ScoreProgress(scored=begun), work)
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
