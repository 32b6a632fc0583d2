"""Results of a project. Each number opens the tasks behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from attribution.evaluation.ais.models import TaskVerdict
from attribution.evaluation.ais.project import Annotations, Work
from attribution.evaluation.ais.tasks import Project
from attribution.evaluation.tables import csv_text
from pages.ui import state
from pages.ui.annotate import state as own
from pages.ui.annotate.figures.cells import Cell, Figures, behind, cells_view, task_list
from pages.ui.annotate.figures.tables import Found, agreement_table, quality_tables, share_tables
from pages.ui.frame import note, section, show, small
from pages.ui.html.render import plural


def results_view(kept: Annotations, project: Project, work: Work) -> None:
    """All tables, and the tasks of the number that was clicked."""
    pilot = False
    if project.pilot:
        part = st.segmented_control("Judgements of", ["Production", "Pilot"], default="Production", required=True,
                                    key="results_part", help="Pilot tasks have results of their own.")  # fmt: skip
        pilot = part == "Pilot"
    found = Found(kept, project, work, pilot)
    if not found.counted:
        note("No results yet", "They appear as soon as the first task is judged.")
        return
    tables = [*share_tables(found), agreement_table(found), *quality_tables(found)]
    opened(tables, found, "results")
    rows = [row for table in tables for row in [(table.title,), table.heads, *map(_plain, table.rows), ()]]
    st.download_button("Export the tables as CSV", csv_text(rows), f"results-{project.id}.csv", "text/csv",
                       on_click="ignore", key="results_csv", help="All tables of this view.")  # fmt: skip


def _plain(row: Sequence[Cell]) -> tuple[str, ...]:
    return tuple(cell if isinstance(cell, str) else f"{cell.text} {cell.more}".strip() for cell in row)


def opened(tables: list[Figures], found: Found, key: str, verdicts: Mapping[str, TaskVerdict] | None = None) -> None:
    """The tables, and the tasks behind the number that was clicked last."""
    clicked = cells_view(tables, own.text(own.CELL), key=f"cells_{key}")
    if clicked and clicked != own.text(own.CELL):
        state.put(own.CELL, str(clicked))
        st.rerun()
    if cell := behind(tables, own.text(own.CELL)):
        title, tasks = cell
        section(f"{title} · {plural(len(set(tasks)), 'task')}")
        show(task_list(found.tasks, tasks, found.everything(), found.answers, verdicts))
    else:
        small("Click a number to see the tasks behind it.")
