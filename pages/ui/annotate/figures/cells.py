"""Tables in which a number opens the tasks behind it, and the list of those tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from attribution.evaluation.ais.judgements import ANSWERS, Answer, Judgement
from attribution.evaluation.ais.models import TaskVerdict
from attribution.evaluation.ais.tasks import Task
from pages.ui.html import diff, render
from pages.ui.html.render import Child, Node, badge, el, plural

_HERE = Path(__file__).parent
SHOWN = 100  # tasks listed behind a number
_cells = st.components.v2.component(
    "attribution.cells",
    html='<div class="root"></div>',
    css=(_HERE / "cells.css").read_text("utf-8"),
    js=render.NODES_JS + (_HERE / "cells.js").read_text("utf-8"),
)


@dataclass(frozen=True)
class Number:
    """A number, the tasks behind it, and small print beside it."""

    text: str
    tasks: tuple[str, ...]
    more: str = ""


Cell = str | Number


@dataclass(frozen=True)
class Figures:
    """One table of the page."""

    title: str
    note: str
    heads: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)


def cell_key(table: int, row: int, column: int) -> str:
    return f"{table}-{row}-{column}"


def cells_view(tables: Sequence[Figures], opened: str, *, key: str) -> Any:
    """Draw them; the result names the cell that was clicked: `open`."""

    def ignore() -> None:
        pass

    return _cells(data=data(tables, opened), key=key, on_open_change=ignore).open


def data(tables: Sequence[Figures], opened: str) -> dict[str, Any]:
    """What the component draws."""
    return {
        "open": opened,
        "tables": [
            {
                "title": table.title,
                "note": table.note,
                "heads": list(table.heads),
                "rows": [
                    [
                        cell if isinstance(cell, str)
                        else {"text": cell.text, "more": cell.more, "key": cell_key(t, r, c)} if cell.tasks
                        else cell.text
                        for c, cell in enumerate(row)
                    ]
                    for r, row in enumerate(table.rows)
                ],
            }
            for t, table in enumerate(tables)
        ],
    }  # fmt: skip


def behind(tables: Sequence[Figures], opened: str) -> tuple[str, tuple[str, ...]] | None:
    """The words and the tasks of a cell; None if there is no such cell."""
    for t, table in enumerate(tables):
        for r, row in enumerate(table.rows):
            for c, cell in enumerate(row):
                if isinstance(cell, Number) and cell_key(t, r, c) == opened:
                    names = " · ".join(name for name in row if isinstance(name, str) and name)
                    return f"{table.title} · {names} · {table.heads[c]}", cell.tasks
    return None


def task_list(
    tasks: Mapping[str, Task],
    ids: Sequence[str],
    judgements: Mapping[str, Sequence[Judgement]],
    answers: Mapping[str, Answer | None],
    verdicts: Mapping[str, TaskVerdict] | None = None,
) -> Node:
    """The tasks behind a number, with what each person said; a task once, however often it counts."""
    unique = [task for task in dict.fromkeys(ids) if task in tasks]
    rows = [_row(tasks[i], judgements.get(i, ()), answers.get(i), (verdicts or {}).get(i)) for i in unique[:SHOWN]]
    rest = len(unique) - SHOWN
    more = (
        el("p", f"and {plural(rest, 'more task')}: all of them are in the export", class_="facts") if rest > 0 else None
    )
    return el("div", *rows, more, class_="ax-rows")


def _row(task: Task, judgements: Sequence[Judgement], answer: Answer | None, verdict: TaskVerdict | None) -> Node:
    said = [_said(judgement, task) for judgement in judgements]
    word = ANSWERS[answer] if answer else "Undecided"
    facts = " · ".join(filter(None, (task.system, task.dataset, task.time)))
    turns = [el("p", el("strong", f"{turn.speaker.capitalize()}: "), turn.text, dir="auto") for turn in task.turns]
    model: list[Child] = [badge(verdict.label), f" {verdict.reason}"] if verdict else []
    return el(
        "details",
        el("summary", el("strong", f"{word} · "), el("span", task.answer[:300], dir="auto")),
        el("p", facts, class_="facts") if facts else None,
        *turns,
        el("p", el("strong", "Response: "), task.answer, dir="auto"),
        el("ul", *said),
        el("p", *model) if model else None,
    )


def _said(judgement: Judgement, task: Task) -> Node:
    content = judgement.content
    flags = f" ({', '.join(content.flags)})" if content.flags else ""
    role = "" if judgement.role == "annotation" else f" ({judgement.role})"
    seconds = f" · {sum(content.seconds):.1f} s" if sum(content.seconds) else ""
    answer = ANSWERS[content.answer].lower() if content.answer else "not finished"
    changed = diff.shown(task.answer, content.explicature) if content.explicature else []
    return el(
        "li",
        el("strong", f"{judgement.annotator}{role}: "),
        f"{answer}{flags}{seconds}",
        el("span", f" “{content.justification}”", dir="auto") if content.justification else None,
        el("p", "Explicature: ", *changed, dir="auto", class_="ax-changes") if changed else None,
    )
