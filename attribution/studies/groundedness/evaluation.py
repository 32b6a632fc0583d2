"""Run methods on labelled responses, and measure how well they find the ungrounded ones (T24 6).

A response is flagged where its score is below a threshold. A binary judge has none; of the other
methods it is tuned on one split and reported on another.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from attribution.errors import BadInput, LlmFailed, Stopped, Unavailable
from attribution.models.loading import working_time
from attribution.pipeline.experiment import append, locked, read_lines, run_each
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.groundedness import BINARY, METHODS, TRAINED, Method, PartScore
from attribution.studies.groundedness.labelled_set import LabelledRow, LabelledSet, Split
from attribution.studies.results import Saved, mean
from attribution.types import Frozen, LlmUsage, content_id

GROUNDED = ""  # the error type of grounded responses
MAX_THRESHOLDS = 1_000  # that are tried
BINARY_THRESHOLD = 0.5


class Outcome(Frozen):
    """The outcome of one method on one response.

    Attributes:
        row: The id of the labelled response.
        key: Hash of the texts and the method's version: the same key, the same scores.
        scores: By reading; empty after an error.
        seconds: Without loading models; None where a reply came from the store.
    """

    method: str
    row: str
    key: str
    scores: dict[str, float] = {}
    parts: tuple[PartScore, ...] = ()
    seconds: float | None = None
    error: str = ""


@dataclass(frozen=True)
class LeftOut:
    """A method that cannot be run, and why."""

    method: str
    reason: str


def selected(names: Sequence[str], settings: Settings) -> tuple[list[str], list[LeftOut]]:
    """Return the methods that are ready, and those left out for an unmet need.

    Args:
        names: Of methods; `all` stands for the whole table.

    Raises:
        UnknownName: No method has such a name.
        Unavailable: None is ready.
    """
    wanted: list[str] = []
    for name in names:
        wanted += METHODS if name == "all" else [name]
    ready: list[str] = []
    left_out: list[LeftOut] = []
    for name in dict.fromkeys(wanted):
        if name not in METHODS:
            METHODS.build(name, settings)
        missing = METHODS[name].missing(settings)
        if missing:
            left_out.append(LeftOut(name, missing))
        else:
            ready.append(name)
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
    """Yield one outcome for each method and row, method by method.

    A failure in a row affects only that row; a method whose model cannot be loaded is left out.

    Args:
        finished: Outcomes of an earlier run by method and row: those with the same key are yielded
            as they are.
        stop: Ends it after the row in progress.
    """
    for name in methods:
        if stop.is_set():
            return
        try:
            method = METHODS.build(name, settings)
            scored = partial(_scored, name, method, finished, stop)
            for row, result in zip(rows, run_each(rows, scored, stop), strict=False):
                failed = Outcome(
                    method=name, row=row.id, key=key_of(method, row), error=result.problem
                )
                yield result.value or failed
        except (Unavailable, BadInput) as error:
            yield LeftOut(name, str(error))


def run_to_file(
    rows: Sequence[LabelledRow], methods: Sequence[str], settings: Settings, path: Path
) -> Iterator[Outcome | LeftOut]:
    """Yield the outcomes as `run` does, and append new ones to a file of earlier ones."""
    with locked(path):
        finished = read_outcomes(path)
        for one in run(rows, methods, settings, finished, threading.Event()):
            if isinstance(one, Outcome) and finished.get((one.method, one.row)) != one:
                append(path, one.model_dump(mode="json"))
            yield one


def read_outcomes(path: Path) -> dict[tuple[str, str], Outcome]:
    """Read the outcomes of a file by method and row, the last of each."""
    outcomes: dict[tuple[str, str], Outcome] = {}
    for line in read_lines(path):
        fields = {name: value for name, value in line.items() if name in Outcome.model_fields}
        with suppress(ValidationError):
            outcome = Outcome.model_validate(fields)
            outcomes[outcome.method, outcome.row] = outcome
    return outcomes


def key_of(method: Method, row: LabelledRow) -> str:
    """Hash everything that the scores of a row depend on."""
    own = str(getattr(method, "key", ""))
    return content_id(method.version, own, row.question, *row.context, "", row.response)


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
    before, started = method.usage or LlmUsage(), working_time()
    outcome = Outcome(method=name, row=row.id, key=key)
    update: dict[str, object] = {}
    try:
        scored = method.score(row.given, stop)
    except (BadInput, LlmFailed) as error:
        if stop.is_set():  # cut off: the row is scored when the run resumes
            raise Stopped("this row was interrupted") from error
        update["error"] = str(error)
    else:
        scores = scored.scores.items()
        update["scores"] = {n: round(min(1.0, max(0.0, score)), 6) for n, score in scores}
        update["parts"] = scored.parts
        is_cached = method.usage is not None and method.usage.since(before).cached > 0
        update["seconds"] = None if is_cached else round(working_time() - started, 6)
    return outcome.model_copy(update=update)


# --- figures ---


class ErrorType(Frozen):
    """Test rows of one error type, and how many of them were misclassified (T24 Table 4)."""

    name: str  # GROUNDED: responses without an error
    rows: int
    misclassified: int


class Measures(Frozen):
    """Macro precision, recall and F1, and accuracy (T24 6)."""

    precision: float
    recall: float
    macro_f1: float
    accuracy: float


class MethodFigures(Measures):
    """One method on a split of a labelled set.

    Attributes:
        reading: Of the method's scores, tuned with the threshold.
        threshold: The least score of a response that is not flagged.
        development: Rows that were tuned on.
        test: Rows of the split, which are reported.
        failed: Rows without a score; each counts as misclassified.
        seconds: Mean of a response; None where all replies came from the store.
    """

    method: str
    reading: str
    threshold: float
    development: int
    test: int
    failed: int
    seconds: float | None
    error_types: tuple[ErrorType, ...] = ()


class Evaluation(Frozen):
    figures: tuple[MethodFigures, ...]
    unmeasured: dict[str, str] = {}  # methods without figures, and why


@dataclass(frozen=True)
class Tuning:
    """A reading and a threshold, and their macro F1 on the rows that they are tuned on."""

    reading: str
    threshold: float
    macro_f1: float = 0.0


@dataclass(frozen=True)
class ScoredRow:
    """A labelled response with a method's outcome."""

    row: LabelledRow
    outcome: Outcome

    def is_right(self, tuning: Tuning) -> bool:
        """Return True for the label that people gave; a response without a score is wrong."""
        score = self.outcome.scores.get(tuning.reading)
        return score is not None and (score >= tuning.threshold) == self.row.grounded


def evaluate(
    rows: Sequence[LabelledRow],
    outcomes: Sequence[Outcome],
    methods: Sequence[str],
    split: Split = "test",
) -> Evaluation:
    """Return the figures of each method on a split, in order."""
    figures: list[MethodFigures] = []
    unmeasured: dict[str, str] = {}
    for method in methods:
        scored = scored_rows(rows, outcomes, method)
        missing = [*missing_labels("development", scored), *missing_labels("test", scored)]
        if missing:
            unmeasured[method] = f"{'; '.join(missing)} has a score"
        else:
            figures.append(_figures(method, scored, split))
    return Evaluation(figures=tuple(figures), unmeasured=unmeasured)


def scored_rows(
    rows: Sequence[LabelledRow], outcomes: Sequence[Outcome], method: str
) -> list[ScoredRow]:
    """Return the rows that a method has scored, or failed to score."""
    by_id = {row.id: row for row in rows}
    known = [one for one in outcomes if one.method == method and one.row in by_id]
    return [ScoredRow(by_id[one.row], one) for one in known]


def of_split(split: Split, scored: Sequence[ScoredRow]) -> list[ScoredRow]:
    return [one for one in scored if one.row.split == split]


def missing_labels(split: Split, scored: Sequence[ScoredRow]) -> list[str]:
    """Return a phrase for each label that no scored row of a split has."""
    labels = {one.row.grounded for one in of_split(split, scored) if not one.outcome.error}
    missing = [word for word in (True, False) if word not in labels]
    return [
        f"no {'grounded' if label else 'ungrounded'} response in the {split} split"
        for label in missing
    ]


def tune(method: str, scored: Sequence[ScoredRow]) -> Tuning:
    """Return the reading and threshold of a method.

    SelfCheckGPT is tuned on the training split if there is one, others on the development split; a
    binary judge is not tuned. Of equal readings, the first is taken.
    """
    usable = [one for one in scored if not one.outcome.error]
    if method in BINARY:
        return Tuning(next(iter(usable[0].outcome.scores)), BINARY_THRESHOLD)
    used = of_split("training", usable) if method in TRAINED else []
    used = used or of_split("development", usable)
    tunings: list[Tuning] = []
    for reading in used[0].outcome.scores:
        scores = [one.outcome.scores[reading] for one in used]
        tunings.append(best_threshold(reading, scores, [one.row.grounded for one in used]))
    return max(tunings, key=lambda tuning: tuning.macro_f1)


def best_threshold(reading: str, scores: Sequence[float], grounded: Sequence[bool]) -> Tuning:
    """Return the threshold with the highest macro F1, halfway between two scores.

    Of equal ones, the middle one is taken.
    """
    import numpy as np

    values = np.unique(scores)
    if len(values) > MAX_THRESHOLDS:
        values = np.quantile(values, np.linspace(0, 1, MAX_THRESHOLDS))
    halfway = (values[:-1] + values[1:]) / 2
    thresholds = np.concatenate([values[:1], halfway, values[-1:] + 1e-6])
    labels = np.asarray(grounded)
    right = (np.asarray(scores) >= thresholds[:, None]) == labels
    wrong = (~right).sum(axis=1)
    f1 = np.zeros(len(thresholds))
    for of_class in (labels, ~labels):
        hits = 2 * (right & of_class).sum(axis=1)
        f1 += hits / np.maximum(1, hits + wrong) / 2
    equal = np.flatnonzero(f1 >= f1.max() - 1e-12)
    chosen = equal[len(equal) // 2]
    return Tuning(reading, float(thresholds[chosen]), float(f1[chosen]))


def measure(tuning: Tuning, scored: Sequence[ScoredRow]) -> Measures:
    """Return the measures of some rows."""
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    labels = [one.row.grounded for one in scored]
    passed = [one.row.grounded == one.is_right(tuning) for one in scored]
    macro = precision_recall_fscore_support(
        labels, passed, labels=[True, False], average="macro", zero_division=0.0
    )
    precision, recall, f1 = (round(float(value), 4) for value in macro[:3])
    accuracy = round(float(accuracy_score(labels, passed)), 4)
    return Measures(precision=precision, recall=recall, macro_f1=f1, accuracy=accuracy)


def _figures(method: str, scored: Sequence[ScoredRow], split: Split) -> MethodFigures:
    tuning = tune(method, scored)
    test = of_split(split, scored)
    outcomes = [one.outcome for one in scored]
    return MethodFigures(
        method=method,
        reading=tuning.reading,
        threshold=round(tuning.threshold, 6),
        development=len(of_split("development", scored)),
        test=len(test),
        failed=sum(bool(one.error) for one in outcomes),
        seconds=mean([one.seconds for one in outcomes]),
        error_types=error_types(tuning, test),
        **measure(tuning, test).model_dump(),
    )


def error_types(tuning: Tuning, scored: Sequence[ScoredRow]) -> tuple[ErrorType, ...]:
    """Count misclassified rows by error type; a row of several types counts in each (T24 8)."""
    rows: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for one in scored:
        names = one.row.error_types or ["" if one.row.grounded else "not said"]
        rows.update(names)
        if not one.is_right(tuning):
            wrong.update(names)
    return tuple(
        ErrorType(name=name, rows=count, misclassified=wrong[name])
        for name, count in sorted(rows.items())
    )


class SavedBenchmark(Frozen):
    """A benchmark as far as it has come; its labelled responses are saved apart, once."""

    methods: tuple[str, ...]
    left_out: dict[str, str] = {}  # methods that could not be run, and why
    settings: dict[str, object]
    outcomes: tuple[Outcome, ...] = ()


BENCHMARK = Saved("benchmark", TypeAdapter(SavedBenchmark))
BENCHMARK_SET = Saved("benchmark_set", TypeAdapter(LabelledSet))


def load_benchmark(store: Store, result_id: str) -> tuple[LabelledSet, SavedBenchmark] | None:
    """Load a benchmark, finished or not, with what it is about."""
    labelled, benchmark = BENCHMARK_SET.load(store, result_id), BENCHMARK.load(store, result_id)
    return (labelled, benchmark) if labelled and benchmark else None
