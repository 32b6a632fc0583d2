"""Run methods on labelled responses, and measure how well they find the ungrounded ones (T24 6).

The class that is looked for is *ungrounded*: a response is flagged where its score is below a
threshold, which is tuned
on one split and reported on the other.
"""

from __future__ import annotations

import statistics
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from attribution.errors import BadInput, LlmFailed, Stopped, Unavailable
from attribution.models.loading import working_time
from attribution.pipeline.experiment import ResultFile, read_lines, run_each
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.groundedness import METHODS, Method, PartScore
from attribution.studies.groundedness.labelled_set import LabelledRow, LabelledSet, Split
from attribution.studies.results import Saved, interval, ratios
from attribution.types import Frozen, LlmUsage, content_id

if TYPE_CHECKING:
    from attribution.studies.results import Floats, Ints

GROUNDED = ""  # the error type of grounded responses
MAX_THRESHOLDS = 1_000  # that are tried
Pairs = Sequence[tuple[LabelledRow, "Outcome"]]


class Outcome(Frozen):
    """The outcome of one method on one response."""

    method: str
    row: str  # the id of the labelled response
    key: str  # hash of the texts and the method's version: the same key, the same scores
    scores: dict[str, float] = {}  # by reading; empty after an error
    parts: tuple[PartScore, ...] = ()
    seconds: float | None = None  # without loading; None where a reply came from the store
    tokens: int | None = None  # None: no language model
    cost: float | None = None
    error: str = ""


@dataclass(frozen=True)
class LeftOut:
    """A method that cannot be run, and why."""

    method: str
    reason: str
    detail: str = ""


def selected(names: Sequence[str], settings: Settings) -> tuple[list[str], list[LeftOut]]:
    """Return the methods that are ready, and those left out for an unmet need; `all` stands for the
    whole table.

    Raises UnknownName for a name that no method has, and Unavailable if none is ready.
    """
    wanted = list(
        dict.fromkeys(n for name in names for n in (METHODS if name == "all" else (name,)))
    )
    for name in wanted:
        if name not in METHODS:
            METHODS.build(name, settings)
    left_out = [LeftOut(n, missing) for n in wanted if (missing := METHODS[n].missing(settings))]
    ready = [n for n in wanted if n not in {one.method for one in left_out}]
    if not ready:
        reasons = "; ".join(f"{one.method}: {one.reason}" for one in left_out) or "none was named"
        raise Unavailable(f"no method can be run: {reasons}")
    return ready, left_out


def run(
    rows: Sequence[LabelledRow],
    methods: Sequence[str],
    settings: Settings,
    finished: Mapping[tuple[str, str], Outcome],
    stop: threading.Event,
) -> Iterator[Outcome | LeftOut]:
    """Yield one outcome for each method and row, method by method; `stop` ends it after the row in
    progress.

    `finished` are outcomes of an earlier run by method and row: those with the same key are yielded
    as they are. A
    failure in a row affects only that row; a method whose model cannot be loaded is left out.
    """
    for name in methods:
        if stop.is_set():
            return
        try:
            method = METHODS.build(name, settings)
            scored = partial(_scored, name, method, finished, stop)
            for row, result in zip(rows, run_each(rows, scored, stop), strict=False):
                yield result.value or Outcome(
                    method=name, row=row.id, key=key_of(method, row), error=result.problem
                )
        except (Unavailable, BadInput) as error:
            yield LeftOut(name, str(error), error.detail)


def run_to_file(
    rows: Sequence[LabelledRow], methods: Sequence[str], settings: Settings, path: Path
) -> Iterator[Outcome | LeftOut]:
    """Yield the outcomes as `run` does, and append the new ones to a file; those of an earlier call
    are in it.
    """
    with ResultFile(path) as file:
        finished = read_outcomes(path)
        for one in run(rows, methods, settings, finished, threading.Event()):
            if isinstance(one, Outcome) and finished.get((one.method, one.row)) != one:
                file.append(one.model_dump(mode="json"))
            yield one


def read_outcomes(path: Path) -> dict[tuple[str, str], Outcome]:
    """Read the outcomes of a file by method and row, the last of each."""
    found: dict[tuple[str, str], Outcome] = {}
    for _, line in read_lines(path):
        with suppress(ValidationError):
            outcome = Outcome.model_validate(
                {n: v for n, v in line.items() if n in Outcome.model_fields}
            )
            found[outcome.method, outcome.row] = outcome
    return found


def key_of(method: Method, row: LabelledRow) -> str:
    """Hash everything that the scores of a row depend on."""
    return content_id(
        method.version,
        str(getattr(method, "key", "")),
        row.question,
        *row.context,
        "",
        row.response,
    )


def _scored(
    name: str,
    method: Method,
    finished: Mapping[tuple[str, str], Outcome],
    stop: threading.Event,
    row: LabelledRow,
) -> Outcome:
    key, known = key_of(method, row), finished.get((name, row.id))
    if known is not None and known.key == key and not known.error:
        return known
    before, started = method.usage, working_time()
    try:
        scored = method.score(row.given, stop)
    except (BadInput, LlmFailed) as error:
        if stop.is_set():  # cut off: the row is scored when the run resumes
            raise Stopped("this row was interrupted") from error
        tokens, cost, _ = _spent(before, method.usage)
        return Outcome(method=name, row=row.id, key=key, error=str(error), tokens=tokens, cost=cost)
    seconds = working_time() - started
    tokens, cost, cached = _spent(before, method.usage)
    return Outcome(
        method=name,
        row=row.id,
        key=key,
        scores={
            reading: round(min(1.0, max(0.0, score)), 6) for reading, score in scored.scores.items()
        },
        parts=scored.parts,
        seconds=None if cached else round(seconds, 6),
        tokens=tokens,
        cost=cost,
    )


def _spent(
    before: LlmUsage | None, after: LlmUsage | None
) -> tuple[int | None, float | None, bool]:
    """Return the tokens and the cost, and True if a reply came from the store."""
    if after is None:
        return None, None, False
    used = after.since(before or LlmUsage())
    return used.prompt_tokens + used.completion_tokens, used.cost, used.cached > 0


class Interval(Frozen):
    """A share with its 95 % bootstrap interval over groups of rows; None where undefined, or of too
    few groups.
    """

    value: float | None
    low: float | None
    high: float | None


class ErrorType(Frozen):
    """Test rows of one error type, and how many of them were misclassified (T24 Table 4)."""

    name: str  # GROUNDED: responses without an error
    rows: int
    misclassified: int


class MethodFigures(Frozen):
    """One method on one labelled set."""

    method: str
    reading: str  # of the method's scores, tuned with the threshold
    threshold: float  # the least score of a response that is not flagged
    development: int  # rows that were tuned on
    development_macro_f1: float
    test: int  # rows that are reported
    failed: int  # rows of both splits that could not be scored, left out of all figures
    precision: Interval  # of the flagged responses, the share that is ungrounded
    recall: Interval  # of the ungrounded responses, the share that is flagged
    macro_f1: Interval  # the mean of the F1 scores of both classes
    accuracy: Interval
    seconds: float | None  # median of a response; None where all replies came from the store
    tokens: float | None  # mean of a response; None where no language model is asked
    cost: float | None  # of the whole run
    error_types: tuple[ErrorType, ...] = ()


class Evaluation(Frozen):
    figures: tuple[MethodFigures, ...]
    unmeasured: dict[str, str] = {}  # methods without figures, and why


@dataclass(frozen=True)
class Tuning:
    """The reading and the threshold with the highest macro F1 on some rows."""

    reading: str
    threshold: float
    macro_f1: float


def evaluate(
    rows: Sequence[LabelledRow], outcomes: Sequence[Outcome], methods: Sequence[str]
) -> Evaluation:
    """Return the figures of each method, in order; they are tuned on development rows alone."""
    by_id = {row.id: row for row in rows}
    figures: list[MethodFigures] = []
    unmeasured: dict[str, str] = {}
    for method in methods:
        own = [one for one in outcomes if one.method == method and one.row in by_id]
        scored = [(by_id[one.row], one) for one in own if not one.error]
        development = [pair for pair in scored if pair[0].split == "development"]
        test = [pair for pair in scored if pair[0].split == "test"]
        missing = _missing_classes("development", development) + _missing_classes("test", test)
        if missing:
            unmeasured[method] = f"{'; '.join(missing)} has a score"
        else:
            figures.append(_figures(method, development, test, own))
    return Evaluation(figures=tuple(figures), unmeasured=unmeasured)


def _missing_classes(split: Split, pairs: Pairs) -> list[str]:
    labels = {row.grounded for row, _ in pairs}
    kinds = {True: "grounded", False: "ungrounded"}
    return [
        f"no {kind} response in the {split} split"
        for label, kind in kinds.items()
        if label not in labels
    ]


def tune(scored: Pairs) -> Tuning:
    """Return the best reading and threshold; of equals, the first reading."""
    grounded = np.array([row.grounded for row, _ in scored])
    candidates = [
        best_threshold(reading, np.array([one.scores[reading] for _, one in scored]), grounded)
        for reading in scored[0][1].scores
    ]
    return max(candidates, key=lambda candidate: candidate.macro_f1)


def best_threshold(reading: str, scores: Floats, grounded: Ints) -> Tuning:
    """Return the threshold with the highest macro F1, halfway between two scores.

    Of equal ones, the middle one is taken.
    """
    values = np.unique(scores)
    if len(values) > MAX_THRESHOLDS:
        values = np.quantile(values, np.linspace(0, 1, MAX_THRESHOLDS))
    halfway = (values[:-1] + values[1:]) / 2
    thresholds = np.concatenate([values[:1], halfway, values[-1:] + 1e-6])
    flags = scores[None, :] < thresholds[:, None]
    f1 = _macro_f1(_cells(np.broadcast_to(grounded, flags.shape), flags))
    equal = np.flatnonzero(f1 >= f1.max() - 1e-12)
    chosen = equal[len(equal) // 2]
    return Tuning(reading, float(thresholds[chosen]), float(f1[chosen]))


def flagged(outcome: Outcome, figures: MethodFigures) -> bool:
    """Return True if the method calls this response ungrounded."""
    return outcome.scores[figures.reading] < figures.threshold


def _cells(grounded: Any, flags: Any) -> Ints:
    """Count along the last axis: flagged or not of the ungrounded, then of the grounded ones."""
    parts = (~grounded & flags, ~grounded & ~flags, grounded & flags, grounded & ~flags)
    return np.stack([part.sum(axis=-1) for part in parts], axis=-1)


def _macro_f1(cells: Ints) -> Floats:
    hit, missed, false, passed = np.moveaxis(cells, -1, 0)
    ungrounded = ratios(2 * hit, 2 * hit + missed + false)
    grounded = ratios(2 * passed, 2 * passed + missed + false)
    # 0 where a class is neither there nor predicted
    return np.asarray((np.nan_to_num(ungrounded) + np.nan_to_num(grounded)) / 2)


# Of counts as `_cells` gives them; as defined in scikit-learn, for thousands of resamples at once.
MEASURES: dict[str, Callable[[Ints], Floats]] = {
    "precision": lambda cells: ratios(cells[..., 0], cells[..., 0] + cells[..., 2]),
    "recall": lambda cells: ratios(cells[..., 0], cells[..., 0] + cells[..., 1]),
    "macro_f1": _macro_f1,
    "accuracy": lambda cells: ratios(cells[..., 0] + cells[..., 3], cells.sum(axis=-1)),
}
FEW = 10  # groups; an interval of fewer says nothing


def estimates(groups: Sequence[str], grounded: Ints, flags: Ints) -> dict[str, Interval]:
    """Return each measure with its interval.

    Whole groups are drawn, since their rows are not independent.
    """
    names = np.array(groups)
    cells = np.array(
        [_cells(grounded[names == name], flags[names == name]) for name in np.unique(names)]
    )
    return {name: _estimate(cells, measure) for name, measure in MEASURES.items()}


def _estimate(cells: Ints, measure: Callable[[Ints], Floats]) -> Interval:
    def of_drawn(drawn: Ints, axis: int = -1) -> Floats:
        return measure(cells[drawn].sum(axis=-2))

    value = float(measure(cells.sum(axis=0)))
    if np.isnan(value):
        return Interval(value=None, low=None, high=None)
    if len(cells) < FEW:
        return Interval(value=round(value, 4), low=None, high=None)
    low, high = interval([np.arange(len(cells))], of_drawn)
    return Interval(value=round(value, 4), low=round(low, 4), high=round(high, 4))


def _figures(
    method: str, development: Pairs, test: Pairs, outcomes: Sequence[Outcome]
) -> MethodFigures:
    tuning = tune(development)
    grounded = np.array([row.grounded for row, _ in test])
    flags = np.array([one.scores[tuning.reading] < tuning.threshold for _, one in test])
    done = [one for one in outcomes if not one.error]
    seconds = [one.seconds for one in done if one.seconds is not None]
    tokens = [one.tokens for one in done if one.tokens is not None]
    costs = [one.cost for one in outcomes if one.cost is not None]
    return MethodFigures(
        method=method,
        reading=tuning.reading,
        threshold=round(tuning.threshold, 6),
        development=len(development),
        development_macro_f1=round(tuning.macro_f1, 4),
        test=len(test),
        failed=len(outcomes) - len(done),
        seconds=round(statistics.median(seconds), 5) if seconds else None,
        tokens=round(statistics.fmean(tokens), 1) if tokens else None,
        cost=round(sum(costs), 6) if costs else None,
        error_types=_error_types([row for row, _ in test], flags == grounded),
        **estimates([row.group for row, _ in test], grounded, flags),
    )


def _error_types(rows: Sequence[LabelledRow], is_wrong: Ints) -> tuple[ErrorType, ...]:
    kinds = np.array([GROUNDED if row.grounded else row.error_type or "not said" for row in rows])
    return tuple(
        ErrorType(
            name=str(name),
            rows=int((kinds == name).sum()),
            misclassified=int(is_wrong[kinds == name].sum()),
        )
        for name in np.unique(kinds)
    )


class SavedSet(Frozen):
    """The labelled responses of a benchmark."""

    name: str  # of the file
    rows: tuple[LabelledRow, ...]
    problems: tuple[tuple[int, str], ...] = ()


class SavedBenchmark(Frozen):
    """A benchmark as far as it has come; its labelled responses are saved apart, once."""

    methods: tuple[str, ...]
    left_out: dict[str, str] = {}  # methods that could not be run, and why
    settings: dict[str, object]
    outcomes: tuple[Outcome, ...] = ()


BENCHMARK = Saved("benchmark", TypeAdapter(SavedBenchmark))
BENCHMARK_SET = Saved("benchmark_set", TypeAdapter(SavedSet))
save_benchmark = BENCHMARK.save


def save_labelled_set(store: Store, result_id: str, name: str, labelled: LabelledSet) -> None:
    """Save what a benchmark is about, before it starts."""
    BENCHMARK_SET.save(
        store, result_id, SavedSet(name=name, rows=labelled.rows, problems=labelled.problems)
    )


def load_benchmark(store: Store, result_id: str) -> tuple[SavedSet, SavedBenchmark] | None:
    """Load a benchmark, finished or not."""
    labelled, benchmark = BENCHMARK_SET.load(store, result_id), BENCHMARK.load(store, result_id)
    return (labelled, benchmark) if labelled and benchmark else None
