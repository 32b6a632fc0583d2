"""The comparison of one session: its job and its segmenters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from attribution.claims.conversation import turns_of
from attribution.errors import BadInput
from attribution.evaluation.comparison import (
    MAX_SEGMENTERS,
    ComparisonReady,
    SegmenterResult,
    compare,
    recolour_comparison,
)
from attribution.evaluation.saved import load_comparison, load_experiment, save_comparison, save_experiment
from attribution.events import Event
from attribution.segmenters import SEGMENTERS
from attribution.storage.runs import new_run_id
from attribution.text.json_lines import Row, parse_rows
from attribution.types import Report, Turn
from pages.ui import state
from pages.ui.compare.job import CompareJob, CompareProgress, ExperimentJob, ExperimentProgress
from pages.ui.form import choices, conversation
from pages.ui.form.words import FORM
from pages.ui.run import state as run_state
from pages.ui.run.job import RunProgress
from pages.ui.slot import Slot, store, unowned_store

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
    usable = not isinstance(choices.settings(), str) and not conversation.turns_problem()
    return usable and 2 <= len(segmenters()) <= MAX_SEGMENTERS


def start() -> None:
    """Compare the answer that is filled in."""
    settings = choices.settings()
    if isinstance(settings, str) or is_running():
        return
    id, database = new_run_id(), store()
    save = partial(save_comparison, database, id)
    compare = partial(_compare(), context=conversation.turns())
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
        from attribution.pipeline.turns import in_turn

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
