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
WORST, NEWEST = "worst", "newest"


class AnswerRow(NamedTuple):
    """One answer with its claims by badge; `run` is empty where the run is not in this server's
    database.
    """

    name: str
    verdicts: dict[str, int]
    run: str = ""
    at: str = ""

    @property
    def claims(self) -> int:
        return sum(self.verdicts.values())


def of_history() -> list[AnswerRow]:
    """Return the finished runs of this browser, the newest first."""
    found = store().history.find(HistoryQuery(state="finished", limit=MOST))
    return [
        AnswerRow(row.name or "Untitled", row.verdicts, row.id, row.created_at)
        for row in found.rows
    ]


def of_batch(content: bytes) -> tuple[list[AnswerRow], int]:
    """Return the answers of a file that `attribution batch` wrote, and the number of lines that are
    not shown.

    Raises BadInput if no line has a report.
    """
    rows, lines = [], parse_rows(content, [])
    for line in lines:
        try:
            report = Report.model_validate(line.fields["report"])
        except (KeyError, ValidationError):
            continue
        here = report.id if store().rights.access(report.id).own else ""
        name = " ".join((report.question or report.answer)[:160].split()) or "Untitled"
        rows.append(AnswerRow(name, dict(Counter(badges(report))), here, report.created_at))
    if not rows:
        raise BadInput(
            "No line of this file has a report: choose the output of `attribution batch`."
        )
    return rows[:MOST], len(lines) - len(rows[:MOST])


def ordered(rows: Sequence[AnswerRow], by: str, only: str = "", words: str = "") -> list[AnswerRow]:
    """Return the rows that have such a claim and these words, in order: the worst first, the
    newest, or by a badge.
    """

    def rank(row: AnswerRow) -> tuple[int, ...]:
        return tuple(-row.verdicts.get(badge, 0) for badge in ((by,) if by in BADGES else BADGES))

    kept = [
        row
        for row in rows
        if (not only or row.verdicts.get(only)) and words.casefold() in row.name.casefold()
    ]
    return (
        sorted(kept, key=lambda row: row.at, reverse=True)
        if by == NEWEST
        else sorted(kept, key=rank)
    )


def grid(rows: Sequence[AnswerRow], server: str) -> Node:
    """Draw a row for each answer and a column for each badge that occurs, with their sums below.

    `server` is the address of the app, for the links to the runs.
    """
    shown = [badge for badge in BADGES if any(row.verdicts.get(badge) for row in rows)]
    heads = ["Answer", *(f"{look(badge).icon} {look(badge).word}" for badge in shown), "Claims"]
    lines: list[list[Child]] = []
    for row in rows:
        name = (
            el("a", row.name, href=f"{server}/?run={row.run}") if row.run else el("span", row.name)
        )
        cells = (_cell(badge, row.verdicts.get(badge, 0)) for badge in shown)
        lines.append([el("span", name, dir="auto"), *cells, str(row.claims)])
    sums = [str(sum(row.verdicts.get(badge, 0) for row in rows)) for badge in shown]
    lines.append([el("strong", "All"), *sums, str(sum(row.claims for row in rows))])
    return scrolling(table(heads, lines, "ax-table wide ax-grid"), "Answers and verdicts")


def _cell(badge: str, count: int) -> Child:
    return el("span", str(count), class_=f"badge {style_class(badge)}") if count else "–"


def page() -> None:
    """Draw the choice of answers, the filters and the grid."""
    upload = st.file_uploader(
        "Reports of a batch",
        ["jsonl"],
        key="many_file",
        max_upload_size=LIMITS.file_mb,
        help="The file that `attribution batch` wrote. Without it, the runs of this browser are listed.",
    )
    try:
        rows, left = of_batch(upload.getvalue()) if upload else (of_history(), 0)
    except BadInput as error:
        note("This file cannot be used", error.public(), label="contradicted")
        return
    if not rows:
        note("No answers yet", "Analyse some on Explore, or choose the file of a batch.")
        return
    orders = {
        WORST: "Worst first",
        NEWEST: "Newest first",
        **{b: f"Most {look(b).word.lower()}" for b in BADGES},
    }
    with st.container(key="many_filters", horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Search", key="many_words", max_chars=LIMITS.line, help="Answers with these words."
        )
        only = st.selectbox(
            "Has a claim that is",
            ["", *BADGES],
            format_func=lambda b: look(b).word if b else "Any",
            key="many_only",
            help="Lists only answers with such a claim.",
        )
        by = st.selectbox(
            "Order",
            list(orders),
            format_func=orders.__getitem__,
            key="many_order",
            help="Worst first: contradicted claims, then doubts, then what nothing was found for.",
        )
    found = ordered(rows, by, only, words.strip())
    without = (
        f" {plural(left, 'line')} not shown: without a report, or beyond {MOST} answers."
        if left
        else ""
    )
    small(f"{plural(len(found), 'answer')} of {len(rows)}. A name opens its run.{without}")
    show(grid(found, str(st.context.url or "").rpartition("/")[0]))


if __name__ == "__main__":
    frame.begin(
        "many",
        "Answers",
        "Compare many answers by the verdicts on their claims: those of this browser's History, or of a batch.",
    )
    page()
