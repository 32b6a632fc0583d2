"""Score answers in the background, and keep the result at an address."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from attribution.claims.enrichment import turns_of
from attribution.errors import AttributionError, BadInput
from attribution.events import Event, Progress, Queued, StageStarted
from attribution.evidence.strangers import of_saved_run
from attribution.files import Row
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.snapshots.snapshot import Snapshot
from attribution.store.runs import new_run_id
from attribution.studies.factscore.answer import MAX_CHOICES, AnswerScored, FrozenPages, ScoredAnswer, score_answer
from attribution.studies.factscore.experiment import Scored, load, save
from attribution.studies.tables import failure
from attribution.verifiers import VERIFIERS
from pages.ui import background, choices, state
from pages.ui import run as run_state
from pages.ui.choices import explain
from pages.ui.slot import Slot, store, unowned_store

LABELS = {name: entry.label for name, entry in (*SEGMENTERS.items(), *VERIFIERS.items())}


def label(name: str) -> str:
    return LABELS.get(name, name)


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


DECOMPOSERS, CHECKERS, FROZEN = "factscore_decomposers", "factscore_verifiers", "factscore_frozen"
UPLOAD = "factscore_upload"
NUMBER = "factscore_number"  # the number whose rows are shown
RESULT = Slot[ScoreJob, ScoreProgress]("factscore")
is_running, notice = RESULT.is_running, RESULT.notice


def decomposers() -> list[str]:
    """The decomposers to score with: those selected, else the first two that are ready."""
    ready = [name for name, step in choices.missing(SEGMENTERS).items() if not step]
    selected = state.selected(DECOMPOSERS)
    return [n for n in selected if n in ready] if selected is not None else ready[:2]


def verifiers() -> list[str]:
    """The verifiers to score with: those selected, else that of the sidebar."""
    ready = [name for name, step in choices.missing(VERIFIERS).items() if not step]
    selected = state.selected(CHECKERS)
    if selected is None:
        selected = [str(state.value(state.VERIFIER))]
    return [n for n in selected if n in ready]


def is_ready() -> bool:
    """Can it be started?"""
    counts = (len(decomposers()), len(verifiers()))
    usable = not isinstance(choices.settings(), str) and not choices.turns_problem()
    return usable and all(1 <= n <= MAX_CHOICES for n in counts)


def start() -> None:
    """Score the answer that is filled in."""
    question, answer = run_state.text()
    start_many([Row(1, {"question": question, "answer": answer, "turns": list(choices.turns())})])


def start_many(rows: Sequence[Row]) -> None:
    """Score the answers of a file."""
    settings = choices.settings()
    if isinstance(settings, str) or is_running():
        return
    frozen = last_run_id() if state.selected(FROZEN) else ""
    names = (tuple(decomposers()), tuple(verifiers()))
    state.put(NUMBER, None)
    _begin(new_run_id(), Scored(*names, rows=tuple(rows), settings=settings.public(), frozen=frozen), settings)


def go_on() -> None:
    """Score the answers that are missing, as it was begun; keys and documents come from the form."""
    settings, shown = choices.settings(), current()
    if isinstance(settings, str) or shown is None or is_running():
        return
    id = str(state.address("factscore").get("factscore") or new_run_id())
    try:
        _begin(id, shown.scored, of_saved_run(shown.scored.settings, settings))
    except AttributionError as error:
        RESULT.refuse(f"it cannot be continued: {explain(error)[0]}")


def _begin(id: str, begun: Scored, settings: Settings) -> None:
    database, parts, documents = store(), unowned_store(), choices.documents()
    browser = state.browser()

    def score(row: Row, stop: threading.Event) -> Iterator[Event | AnswerScored]:
        from attribution.run.run import in_turn

        source = FrozenPages(Snapshot.of(database, begun.frozen)) if begun.frozen else None
        question, answer, system = (str(row.fields.get(name) or "") for name in ("question", "answer", "system"))
        context = turns_of(row.fields.get("turns"))

        def scored() -> Iterator[Event | AnswerScored]:
            return score_answer(
                question, answer, settings, begun.segmenters, begun.verifiers, parts,
                system=system, context=context, documents=documents, source=source, stop=stop,
            )  # fmt: skip

        return in_turn(browser, stop, scored)

    RESULT.start(ScoreJob(id, begun, score, partial(save, database, id)))


def last_run_id() -> str:
    """The session's last run, whose pages can serve as the knowledge source; empty where there is none."""
    last = run_state.current()
    return last.report.id if last and not last.running and last.report.pages else ""


def show(id: str) -> None:
    """Show the scores in the address, saved or in progress."""
    if not RESULT.running(id) and (scored := RESULT.saved(lambda database: load(database, id))):
        RESULT.show(ScoreProgress(scored=scored, running=False))


def owns() -> bool:
    return RESULT.owns("factscore")


def copy() -> None:
    RESULT.copy("factscore", show)


def current() -> ScoreProgress | None:
    """The scores to show: those started last, else those in the address."""
    job = RESULT.job()
    if job is None:
        return RESULT.shown()
    state.show_address(factscore=job.id)
    return job.progress()
