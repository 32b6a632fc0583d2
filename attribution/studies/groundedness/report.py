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
    """Macro F1 with its interval against the seconds of a response, on a logarithmic axis (T24
    Figure 2).
    """
    shown = sorted(
        (f for f in figures if f.seconds and f.macro_f1.value is not None),
        key=lambda f: f.seconds or 0.0,
    )
    made: Figure = plotly().Figure()
    for number, f in enumerate(
        shown, 1
    ):  # a number in the point and a name in the legend: names beside points collide
        value = f.macro_f1.value or 0.0
        above, below = (
            (0.0 if end is None else abs(end - value)) for end in (f.macro_f1.high, f.macro_f1.low)
        )
        made.add_scatter(
            x=[f.seconds],
            y=[value],
            mode="markers+text",
            name=f"{number} {f.method}",
            cliponaxis=False,
            error_y={
                "array": [above],
                "arrayminus": [below],
                "color": quiet,
                "thickness": 1.5,
                "width": 3,
            },
            marker={"size": 18, "color": mark},
            text=[str(number)],
            textposition="middle center",
            textfont={"size": 11, "color": paper},
            customdata=[[METHODS[f.method].label, duration(f.seconds), interval(f.macro_f1)]],
            hovertemplate="%{customdata[0]}: macro F1 %{customdata[2]}, %{customdata[1]} a response<extra></extra>",
        )
    axis = {
        "gridcolor": quiet,
        "linecolor": quiet,
        "color": ink,
        "zeroline": False,
        "fixedrange": True,
        "automargin": True,
    }
    made.update_layout(
        height=420,
        margin={"l": 0, "r": 12, "t": 10, "b": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={
            "family": "system-ui, -apple-system, Segoe UI, Roboto, sans-serif",
            "size": 13,
            "color": ink,
        },
        xaxis={
            **axis,
            "type": "log",
            "title": {"text": "seconds a response (logarithmic)"},
            "dtick": 1,
        },
        yaxis={
            **axis,
            "title": {"text": "macro F1", "standoff": 12},
            "range": [0, 1],
            "dtick": 0.2,
        },
        showlegend=True,
        legend={
            "orientation": "h",
            "yanchor": "top",
            "y": -0.2,
            "itemclick": False,
            "itemdoubleclick": False,
        },
    )
    return made


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


def json_report_of(rows: Sequence[LabelledRow], evaluation: Evaluation) -> Fields:
    """The splits of a set, and the figures of each method."""
    splits: dict[str, dict[str, int]] = {}
    for split in ("development", "test"):
        own = [row for row in rows if row.split == split]
        counts = {
            "rows": len(own),
            "grounded": sum(row.grounded for row in own),
            "groups": len({r.group for r in own}),
        }
        splits[split] = counts
    methods = [
        {"label": METHODS[f.method].label, **f.model_dump(mode="json")} for f in evaluation.figures
    ]
    return {"splits": splits, "methods": methods}


def json_report(
    labelled: LabelledSet,
    evaluation: Evaluation,
    left_out: Sequence[LeftOut],
    settings: Mapping[str, object],
) -> Fields:
    """The content of figures.json."""
    return {
        **json_report_of(labelled.rows, evaluation),
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
