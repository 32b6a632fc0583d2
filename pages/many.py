"""Many answers: a grid of answers and verdicts, from History or from the file of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st
from pydantic import ValidationError

from attribution.errors import BadInput
from attribution.files import parse_rows
from attribution.reports.html import Child, Node, el, look, plural, scrolling, style_class, table
from attribution.settings import LIMITS
from attribution.store.history import HistoryQuery
from attribution.types import BADGES, Report
from attribution.verifiers.calibration import badges
from pages.ui import frame
from pages.ui.frame import note, show, small
from pages.ui.state import store

MOST = 500  # answers in the grid


class AnswerRow(NamedTuple):
    """One answer with its claims by badge; `run` is empty where this server does not have it."""

    name: str
    verdicts: dict[str, int]
    run: str = ""


def of_history() -> list[AnswerRow]:
    """Return the finished runs of this browser."""
    listed = store().history.find(HistoryQuery(state="finished", limit=MOST))
    return [AnswerRow(row.name or "Untitled", row.verdicts, row.id) for row in listed.rows]


def of_batch(content: bytes) -> list[AnswerRow]:
    """Return the answers of a file that `attribution batch` wrote.

    Raises BadInput if no line has a report.
    """
    rows = []
    for line in parse_rows(content, []):
        try:
            report = Report.model_validate(line.fields["report"])
        except (KeyError, ValidationError):
            continue
        run = report.id if store().rights.access(report.id).own else ""
        name = " ".join((report.question or report.answer)[:160].split()) or "Untitled"
        rows.append(AnswerRow(name, dict(Counter(badges(report))), run))
    if not rows:
        raise BadInput("No line of this file has a report: choose the output of a batch.")
    return rows[:MOST]


def worst_first(rows: Sequence[AnswerRow]) -> list[AnswerRow]:
    """Sort the answers by contradicted claims, then by doubts, then by claims without evidence."""
    return sorted(rows, key=lambda row: [-row.verdicts.get(badge, 0) for badge in BADGES])


def grid(rows: Sequence[AnswerRow], server: str) -> Node:
    """Draw a row for each answer and a column for each badge that occurs.

    `server` is the address of the app, for the links to the runs.
    """
    shown = [badge for badge in BADGES if any(row.verdicts.get(badge) for row in rows)]
    heads = ["Answer", *(f"{look(badge).icon} {look(badge).word}" for badge in shown), "Claims"]
    lines: list[list[Child]] = []
    for row in rows:
        name: Child = el("a", row.name, href=f"{server}/?run={row.run}") if row.run else row.name
        cells = [_cell(badge, row.verdicts.get(badge, 0)) for badge in shown]
        lines.append([el("span", name, dir="auto"), *cells, str(sum(row.verdicts.values()))])
    return scrolling(table(heads, lines, "ax-table wide ax-grid"), "Answers and verdicts")


def _cell(badge: str, count: int) -> Child:
    return el("span", str(count), class_=f"badge {style_class(badge)}") if count else "–"


def page() -> None:
    """Draw the choice of answers and the grid."""
    upload = st.file_uploader(
        "Reports of a batch",
        ["jsonl"],
        key="many_file",
        max_upload_size=LIMITS.file_mb,
        help="The file that `attribution batch` wrote. Without it, your runs are listed.",
    )
    try:
        rows = of_batch(upload.getvalue()) if upload else of_history()
    except BadInput as error:
        note("This file cannot be used", error.public(), label="contradicted")
        return
    if not rows:
        note("No answers yet", "Analyse some on Check, or choose the file of a batch.")
        return
    small(f"{plural(len(rows), 'answer')}, the worst first. A name opens its run.")
    show(grid(worst_first(rows), str(st.context.url or "").rpartition("/")[0]))


if __name__ == "__main__":
    frame.begin(
        "many",
        "Answers",
        "Compare many answers by the verdicts on their claims: those of this browser's History, or "
        "of a batch.",
    )
    page()
