"""Run methods on labelled responses, and measure how well they find the ungrounded ones (T24 6).

A response is flagged where its score is below a threshold. A binary judge has none; of the other
methods it is tuned on one split and reported on another.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from attribution.errors import BadInput, Unavailable
from attribution.llm.client import Llm
from attribution.models.engine import working_time
from attribution.pipeline.experiment import Fields, run_each
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.groundedness import BINARY, METHODS, TRAINED, Method
from attribution.studies.groundedness.labelled_set import LabelledRow, LabelledSet, Split
from attribution.studies.results import ResultTable, Saved, mean
from attribution.text_files import json_line, replace_text
from attribution.types import Frozen

MAX_THRESHOLDS = 200  # that are tried
BINARY_THRESHOLD = 0.5


class Outcome(Frozen):
    """The outcome of one method on one response.

    Attributes:
        row: The id of the labelled response.
        scores: By reading; empty after an error.
        seconds: Without loading models; None where a reply came from the store.
    """

    method: str
    row: str
    scores: dict[str, float] = {}
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
        missing = METHODS.entry(name).missing(settings)
        if missing:
            left_out.append(LeftOut(name, missing))
        else:
            ready.append(name)
    if not ready:
        reasons = "; ".join(f"{one.method}: {one.reason}" for one in left_out) or "none was named"
        raise Unavailable(f"no method can be run: {reasons}")
    return ready, left_out


def run(
    rows: Sequence[LabelledRow], methods: Sequence[str], settings: Settings, stop: threading.Event
) -> Iterator[Outcome | LeftOut]:
    """Yield one outcome for each method and row, method by method.

    A failure in a row affects only that row; a method whose model cannot be loaded is left out.

    Args:
        stop: Ends it after the row in progress.
    """
    for name in methods:
        if stop.is_set():
            return
        try:
            scored = partial(_scored, name, METHODS.build(name, settings), stop)
            for row, result in zip(rows, run_each(rows, scored, stop), strict=False):
                yield result.value or Outcome(method=name, row=row.id, error=result.problem)
        except (Unavailable, BadInput) as error:
            yield LeftOut(name, str(error))


def _scored(name: str, method: Method, stop: threading.Event, row: LabelledRow) -> Outcome:
    llm: Llm | None = getattr(method, "llm", None)
    cached, started = llm.usage.cached if llm else 0, working_time()
    scores = method.score(row.given, stop)
    is_cached = llm is not None and llm.usage.cached > cached
    return Outcome(
        method=name,
        row=row.id,
        scores={n: round(min(1.0, max(0.0, score)), 6) for n, score in scores.items()},
        seconds=None if is_cached else round(working_time() - started, 6),
    )


# --- figures ---


class ErrorType(Frozen):
    """Test rows of one error type, and how many of them were misclassified (T24 Table 4)."""

    name: str  # empty: responses without an error
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
        missing = missing_labels(scored)
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


def missing_labels(scored: Sequence[ScoredRow]) -> list[str]:
    """Return a phrase for each label that no scored row of the development or test split has."""
    found = {(one.row.split, one.row.grounded) for one in scored if not one.outcome.error}
    return [
        f"no {'grounded' if label else 'ungrounded'} response in the {split} split"
        for split in ("development", "test")
        for label in (True, False)
        if (split, label) not in found
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
    from sklearn.metrics import f1_score

    values = np.unique(scores)
    if len(values) > MAX_THRESHOLDS:
        values = np.quantile(values, np.linspace(0, 1, MAX_THRESHOLDS))
    halfway = (values[:-1] + values[1:]) / 2
    thresholds = np.concatenate([values[:1], halfway, values[-1:] + 1e-6])
    passed = np.asarray(scores) >= thresholds[:, None]
    f1 = np.array([f1_score(grounded, one, average="macro", zero_division=0.0) for one in passed])
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


# --- tables ---


ROWS, FIGURES, TABLES = "rows.jsonl", "figures.json", "tables.md"
HEADS = (
    "method",
    "precision",
    "recall",
    "macro F1",
    "accuracy",
    "seconds a response",
    "threshold, reading",
    "test rows",
    "failed",
)


def duration(seconds: float | None) -> str:
    """Write seconds with two digits that count."""
    if seconds is None:
        return "–"
    if seconds < 0.0995:
        return f"{seconds * 1000:.2g} ms"
    return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"


def quality_table(evaluation: Evaluation) -> ResultTable:
    """Tabulate the methods, best macro F1 first."""
    rows = [
        (
            one.method,
            one.precision,
            one.recall,
            one.macro_f1,
            one.accuracy,
            duration(one.seconds),
            f"{one.threshold:.3f} {one.reading}".strip(),
            one.test,
            one.failed,
        )
        for one in ranked(evaluation)
    ]
    return ResultTable("Groundedness on the test split", HEADS, tuple(rows))


def ranked(evaluation: Evaluation) -> list[MethodFigures]:
    """Return the figures, best macro F1 first."""
    return sorted(evaluation.figures, key=lambda one: -one.macro_f1)


def error_table(evaluation: Evaluation) -> ResultTable:
    """Tabulate misclassified test rows by error type (T24 Table 4)."""
    names = sorted({kind.name for one in evaluation.figures for kind in one.error_types})
    rows: list[tuple[str, ...]] = []
    for one in ranked(evaluation):
        cells = dict.fromkeys(names, "–")  # a run that was stopped has none of some
        for kind in one.error_types:
            cells[kind.name] = f"{kind.misclassified} of {kind.rows}"
        rows.append((one.method, *cells.values()))
    heads = ("method", *(name or "grounded" for name in names))
    title = "Misclassified responses of the test split by error type"
    return ResultTable(title, heads, tuple(rows))


def row_lines(
    rows: Sequence[LabelledRow], outcomes: Iterable[Outcome], evaluation: Evaluation
) -> list[Fields]:
    """Return each outcome with its row's label and the method's decision, as in rows.jsonl."""
    by_id = {row.id: row for row in rows}
    tunings = {one.method: Tuning(one.reading, one.threshold) for one in evaluation.figures}
    lines: list[Fields] = []
    for outcome in outcomes:
        row, tuning = by_id[outcome.row], tunings.get(outcome.method)
        decided = None
        if tuning and not outcome.error:
            decided = row.grounded == ScoredRow(row, outcome).is_right(tuning)
        fields = row.model_dump(include={"line", "split", "error_type", "grounded"})
        lines.append({**outcome.model_dump(mode="json"), **fields, "found_grounded": decided})
    return lines


def json_report(
    labelled: LabelledSet,
    evaluation: Evaluation,
    left_out: Sequence[LeftOut],
    settings: Mapping[str, object],
) -> Fields:
    """Return the content of figures.json."""
    return {
        "splits": Counter(row.split for row in labelled.rows),
        "methods": [one.model_dump(mode="json") for one in evaluation.figures],
        "problems": [{"line": line, "error": error} for line, error in labelled.problems],
        "left_out": {one.method: one.reason for one in left_out} | evaluation.unmeasured,
        "settings": dict(settings),
    }


# --- the files of a folder ---


def write(folder: Path, rows: Sequence[Fields], report: Fields, evaluation: Evaluation) -> None:
    """Write all files, each whole or not at all."""
    tables = (quality_table(evaluation), error_table(evaluation))
    files = {
        ROWS: "".join(map(json_line, rows)),
        FIGURES: json.dumps(report, indent=1, ensure_ascii=False) + "\n",
        TABLES: "\n".join(table.markdown() for table in tables),
    }
    for name, text in files.items():
        replace_text(folder / name, text)
