"""The results of a benchmark as tables, and the files of a folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attribution.pipeline.experiment import Fields
from attribution.studies.groundedness.evaluation import (
    Evaluation,
    LeftOut,
    MethodFigures,
    Outcome,
    ScoredRow,
    Tuning,
)
from attribution.studies.groundedness.labelled_set import LabelledRow, LabelledSet
from attribution.studies.results import ResultTable
from attribution.text_files import replace_text

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
    """Seconds with two digits that count."""
    if seconds is None:
        return "–"
    if seconds < 0.0995:
        return f"{seconds * 1000:.2g} ms"
    return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"


def quality_table(evaluation: Evaluation) -> ResultTable:
    """A row for each method, best macro F1 first."""
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
    """The figures, best macro F1 first."""
    return sorted(evaluation.figures, key=lambda one: -one.macro_f1)


def error_table(evaluation: Evaluation) -> ResultTable:
    """Misclassified test rows by error type (T24 Table 4)."""
    names = sorted({kind.name for one in evaluation.figures for kind in one.error_types})
    rows: list[tuple[str, ...]] = []
    for one in ranked(evaluation):
        by_name = {kind.name: kind for kind in one.error_types}
        cells = [f"{by_name[name].misclassified} of {by_name[name].rows}" for name in names]
        rows.append((one.method, *cells))
    heads = ("method", *(name or "grounded" for name in names))
    title = "Misclassified responses of the test split by error type"
    return ResultTable(title, heads, tuple(rows))


def row_lines(
    rows: Sequence[LabelledRow], outcomes: Iterable[Outcome], evaluation: Evaluation
) -> list[Fields]:
    """Each outcome with its row's label and the method's decision, as in rows.jsonl."""
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
    """The content of figures.json."""
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
        ROWS: "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in rows),
        FIGURES: json.dumps(report, indent=1, ensure_ascii=False) + "\n",
        TABLES: "\n".join(table.markdown() for table in tables),
    }
    for name, text in files.items():
        replace_text(folder / name, text)
