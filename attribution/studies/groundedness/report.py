"""The results of a benchmark as tables, a chart, and the files of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.errors import BadInput
from attribution.files import Cell, replace_text
from attribution.pipeline.experiment import Fields
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.evaluation import (
    GROUNDED,
    Evaluation,
    Interval,
    LeftOut,
    MethodFigures,
    Outcome,
    flagged,
)
from attribution.studies.groundedness.labelled_set import LabelledRow, LabelledSet
from attribution.studies.results import ResultTable, plotly

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ROWS, FIGURES, PLOT, TABLES = "rows.jsonl", "figures.json", "f1-latency.html", "tables.md"
MEASURES = ("precision", "recall", "macro_f1", "accuracy")


def interval(estimate: Interval) -> str:
    """0.71 (0.65–0.77)"""
    if estimate.value is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f} (too few for an interval)"
    return f"{estimate.value:.2f} ({estimate.low:.2f}–{estimate.high:.2f})"


def duration(seconds: float | None) -> str:
    """Seconds with two digits that count."""
    if seconds is None:
        return "–"
    return (
        f"{seconds * 1000:.2g} ms"
        if seconds < 0.0995
        else f"{seconds:.2g} s"
        if seconds < 9.95
        else f"{seconds:.0f} s"
    )


def quality_table(evaluation: Evaluation) -> ResultTable:
    """A row for each method, best macro F1 first."""
    rows = [
        (
            f.method,
            *(interval(getattr(f, name)) for name in MEASURES),
            duration(f.seconds),
            round(f.tokens) if f.tokens is not None else None,
            f.cost,
            f"{f.threshold:.3f}" + (f", {f.reading}" if f.reading else ""),
            f.test,
            f.failed,
        )
        for f in ranked(evaluation)
    ]
    heads = (
        "method",
        "precision",
        "recall",
        "macro F1",
        "accuracy",
        "seconds a response",
        "tokens a response",
        "cost",
        "threshold, reading",
        "test rows",
        "failed",
    )
    return ResultTable("Groundedness on the test split, with 95 % intervals", heads, tuple(rows))


def ranked(evaluation: Evaluation) -> list[MethodFigures]:
    """The figures, best macro F1 first."""
    return sorted(evaluation.figures, key=lambda f: -(f.macro_f1.value or 0.0))


def error_types(evaluation: Evaluation) -> list[str]:
    """The error types that occur, grounded responses last."""
    names = {e.name for f in evaluation.figures for e in f.error_types}
    return sorted(names - {GROUNDED}) + [GROUNDED] * (GROUNDED in names)


def error_table(evaluation: Evaluation) -> ResultTable:
    """Misclassified test rows by error type (T24 Table 4)."""
    names = error_types(evaluation)
    rows = []
    for f in ranked(evaluation):
        found = {e.name: e for e in f.error_types}
        cells: list[Cell] = [
            f"{found[n].misclassified} of {found[n].rows}" if n in found else None for n in names
        ]
        rows.append((f.method, *cells))
    heads = ("method", *(name or "grounded" for name in names))
    return ResultTable(
        "Misclassified responses of the test split by error type", heads, tuple(rows)
    )


def f1_by_latency(
    figures: Sequence[MethodFigures],
    ink: str = "#1c1c1a",
    quiet: str = "#c9c5bf",
    mark: str = "#2f5d8a",
    paper: str = "#ffffff",
) -> Figure:
    """Draw macro F1 against the seconds of a response, on a logarithmic axis (T24 Figure 2).

    A point has a number, and the legend its name: names beside points would collide.
    """
    measured = [one for one in figures if one.seconds and one.macro_f1.value is not None]
    measured.sort(key=lambda one: one.seconds or 0.0)
    figure: Figure = plotly().Figure()
    for number, one in enumerate(measured, 1):
        label = f"{METHODS[one.method].label}: macro F1 {interval(one.macro_f1)}"
        f1 = one.macro_f1.value or 0.0
        low, high = one.macro_f1.low or f1, one.macro_f1.high or f1
        figure.add_scatter(
            x=[one.seconds],
            y=[f1],
            error_y={"array": [high - f1], "arrayminus": [f1 - low], "color": quiet},
            mode="markers+text",
            name=f"{number} {one.method}",
            marker={"size": 18, "color": mark},
            text=[str(number)],
            textfont={"size": 11, "color": paper},
            hovertemplate=f"{label}, {duration(one.seconds)} a response<extra></extra>",
        )
    axis = {"gridcolor": quiet, "color": ink, "fixedrange": True, "automargin": True}
    seconds = {"type": "log", "title": {"text": "seconds a response (logarithmic)"}}
    figure.update_layout(
        height=420,
        margin={"l": 0, "r": 12, "t": 10, "b": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13, "color": ink},
        xaxis=axis | seconds,
        yaxis=axis | {"range": [0, 1], "title": {"text": "macro F1"}},
        showlegend=True,
        legend={"orientation": "h", "y": -0.2},
    )
    return figure


def row_lines(
    rows: Sequence[LabelledRow], outcomes: Iterable[Outcome], evaluation: Evaluation
) -> list[Fields]:
    """Each outcome with its row's label and the method's decision, as in rows.jsonl."""
    by_row = {row.id: row for row in rows}
    figures = {f.method: f for f in evaluation.figures}
    lines = []
    for outcome in outcomes:
        row, own = by_row[outcome.row], figures.get(outcome.method)
        decided = not flagged(outcome, own) if own and not outcome.error else None
        found = {
            "split": row.split,
            "error_type": row.error_type,
            "grounded": row.grounded,
            "found_grounded": decided,
        }
        lines.append({**outcome.model_dump(mode="json"), "line": row.line, **found})
    return lines


def json_report(
    labelled: LabelledSet,
    evaluation: Evaluation,
    left_out: Sequence[LeftOut],
    settings: Mapping[str, object],
) -> Fields:
    """The content of figures.json."""
    splits: Fields = {}
    for split in ("development", "test"):
        rows = [row for row in labelled.rows if row.split == split]
        splits[split] = {
            "rows": len(rows),
            "grounded": sum(row.grounded for row in rows),
            "groups": len({row.group for row in rows}),
        }
    methods = [
        {"label": METHODS[one.method].label, **one.model_dump(mode="json")}
        for one in evaluation.figures
    ]
    return {
        "splits": splits,
        "methods": methods,
        "problems": [{"line": line, "error": error} for line, error in labelled.problems],
        "left_out": {one.method: one.reason for one in left_out} | evaluation.unmeasured,
        "settings": dict(settings),
    }


# --- the files of a folder ---


def prepare(folder: Path) -> None:
    """Make the folder. BadInput where that is impossible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be used as a folder: {error.strerror}; choose another --out"
        ) from None


def write(folder: Path, rows: Sequence[Fields], report: Fields, evaluation: Evaluation) -> None:
    """Write all files, each whole or not at all."""
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in rows)
    tables = "\n".join(
        table.markdown() for table in (quality_table(evaluation), error_table(evaluation))
    )
    files = {
        ROWS: lines,
        FIGURES: json.dumps(report, indent=1, ensure_ascii=False) + "\n",
        TABLES: tables,
    }
    if any(f.seconds for f in evaluation.figures):
        files[PLOT] = f1_by_latency(ranked(evaluation)).to_html(include_plotlyjs=True)
    for name, text in files.items():
        replace_text(folder / name, text)
