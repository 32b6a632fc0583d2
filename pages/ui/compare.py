"""Compare segmenters in the background, and keep the result at an address."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from attribution.claims.enrichment import turns_of
from attribution.errors import BadInput
from attribution.events import Event, RunStarted
from attribution.files import Row, parse_rows
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.runs import new_run_id
from attribution.studies.segmenters.comparison import (
    MAX_SEGMENTERS,
    Comparison,
    ComparisonReady,
    SegmenterResult,
    compare,
    load_comparison,
    load_experiment,
    recolour_comparison,
    save_comparison,
    save_experiment,
    with_verdicts,
    without_page_texts,
)
from attribution.studies.tables import failure
from attribution.types import Document, Report, Turn
from pages.ui import background, choices, state
from pages.ui import run as run_state
from pages.ui.choices import FORM
from pages.ui.run import RunJob, RunProgress
from pages.ui.slot import Slot, store, unowned_store

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


UPLOAD = "experiment_upload"
ANSWERS = 500  # of one experiment, at most
Steps = Iterator[Event | SegmenterResult | ComparisonReady]
COMPARISON = Slot[CompareJob | ExperimentJob, CompareProgress | ExperimentProgress]("comparison")
is_running, notice = COMPARISON.is_running, COMPARISON.notice


def segmenters() -> list[str]:
    """The segmenters to compare: those selected, else the first two that are ready."""
    ready = [name for name, step in choices.missing(SEGMENTERS).items() if not step]
    selected = state.value(state.COMPARED)
    return [name for name in selected if name in ready] if selected is not None else ready[:2]


def is_ready() -> bool:
    """Can a comparison be started?"""
    usable = not isinstance(choices.settings(), str) and not choices.turns_problem()
    return usable and 2 <= len(segmenters()) <= MAX_SEGMENTERS


def start() -> None:
    """Compare the answer that is filled in."""
    settings = choices.settings()
    if isinstance(settings, str) or is_running():
        return
    id, database = new_run_id(), store()
    save = partial(save_comparison, database, id)
    compare = partial(_compare(), context=choices.turns())
    COMPARISON.start(CompareJob(id, *run_state.text(), settings, choices.documents(), segmenters(), compare, save))


def start_many(rows: Sequence[Row]) -> None:
    """Compare every answer of a file."""
    settings = choices.settings()
    if isinstance(settings, str) or is_running():
        return
    id, database = new_run_id(), store()
    compare = _compare()

    def compare_row(row: Row, stop: threading.Event) -> Steps:
        fields = row.fields
        context = turns_of(fields.get("turns"))
        return compare(str(fields.get("question") or ""), fields["answer"], stop, context=context)

    COMPARISON.start(ExperimentJob(id, rows, compare_row, partial(save_experiment, database, id)))


def _compare() -> Callable[..., Steps]:
    """`compare` with the current choices."""
    settings, names, documents = choices.settings(), segmenters(), choices.documents()
    browser, parts = state.browser(), unowned_store()
    assert not isinstance(settings, str)

    def run(question: str, answer: str, stop: threading.Event, context: Sequence[Turn]) -> Steps:
        from attribution.run.run import in_turn

        going = partial(compare, question, answer, settings, names, parts, documents, stop, context)
        return in_turn(browser, stop, going)

    return run


def load(id: str) -> None:
    """Show the comparison in the address, saved or in progress, and fill in its form."""
    if job := COMPARISON.running(id):
        now = job.progress()
        if not now.many:
            _restore(now.run.report, now.segmenters)
    elif comparison := COMPARISON.saved(lambda database: load_comparison(database, id)):
        names = tuple(column.segmenter for column in comparison.columns)
        _restore(comparison.report, names)
        run = RunProgress(comparison.report, id, accepted=True, running=False, documents=choices.documents())
        COMPARISON.show(CompareProgress(run, names, comparison=comparison, finished=not comparison.report.stopped))


def load_many(id: str) -> None:
    """Show the experiment in the address, saved or in progress."""
    if COMPARISON.running(id):
        return
    if comparisons := COMPARISON.saved(lambda database: load_experiment(database, id)):
        total = len(comparisons)
        COMPARISON.show(ExperimentProgress(total, total, comparisons, running=False))


def _restore(report: Report, names: Sequence[str]) -> None:
    choices.restore(report)
    state.fill(compared=list(names))


def current() -> CompareProgress | ExperimentProgress | None:
    """The last comparison, of one answer or of many, with the thresholds of the sliders."""
    job, thresholds = COMPARISON.job(), choices.thresholds()
    now = job.progress() if job else COMPARISON.shown()
    if now is None:
        return None
    if job:
        state.show_address(**{"experiment" if now.many else "comparison": job.id})
    if now.many:
        return replace(now, comparisons=tuple(recolour_comparison(c, thresholds) for c in now.comparisons))
    return replace(now, comparison=recolour_comparison(now.comparison, thresholds)) if now.comparison else now


def differences(now: CompareProgress) -> list[str]:
    """The inputs that have changed since a comparison, in the words of the form."""
    changed = choices.differences(now.run.report, now.run.documents)
    own = [label for label in changed if label != FORM["segmenter"]]
    return own + (["Segmenters"] if tuple(segmenters()) != now.segmenters else [])


def read_answers(content: bytes) -> list[Row]:
    """The answers of a JSON Lines file, bad lines among them; BadInput for a file without any, or with too many."""
    rows = parse_rows(content, ["answer"], ["question"])
    if len(rows) > ANSWERS:
        raise BadInput(f"The file has {len(rows):,} answers, and one experiment takes {ANSWERS}: split the file.")
    return rows
