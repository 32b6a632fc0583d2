"""Papers: a numbered table of one of the four papers, its printed figures beside ours, from answers
or people.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
from pydantic import TypeAdapter

from attribution.errors import AttributionError, BadInput
from attribution.evidence.permissions import demanded
from attribution.files import Row, format_cell, parse_rows
from attribution.pipeline.experiment import RowDone
from attribution.reports.html import el, plural, scrolling, table
from attribution.settings import LIMITS, Settings, data_folder
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from attribution.studies.papers import PaperTable
from attribution.studies.papers.reproduce import Reproduced, TableInputs, find, reproduce, tables
from attribution.studies.results import Saved
from attribution.types import content_id
from pages.ui import background, choices, frame, state
from pages.ui.background import Work, in_turns
from pages.ui.components import link
from pages.ui.files import File, downloads
from pages.ui.frame import note, section, show, small
from pages.ui.job_page import JobPage
from pages.ui.state import store

LIMIT = 500  # answers of one file
SOURCES = {"Built-in library": ("library",), "The web": ("web",)}


TABLE = Saved("paper_table", TypeAdapter(Reproduced))


@dataclass(frozen=True)
class TableProgress(background.JobProgress):
    """The state of a table at one moment."""

    done: int = 0  # answers
    total: int = 0
    failed: int = 0
    result: Reproduced | None = None

    def doing(self) -> str:
        return f"{'Stopping' if self.stopping else 'Computing'} … {self.done} of {plural(self.total, 'answer')} done"

    def share(self) -> float:
        return self.done / max(1, self.total)


def read(database: Store, id: str) -> TableProgress | None:
    """Load a saved table."""
    found = TABLE.load(database, id)
    return TableProgress(result=found, running=False) if found else None


JOB = JobPage("paper", "table", read)
Steps = Callable[[threading.Event], Iterator[RowDone | Reproduced]]


def work(
    given: TableInputs, steps: Steps, save: Callable[[Reproduced], None]
) -> Work[TableProgress]:
    """Compute a table. Until it is whole, finished answers stay in the folder, for the same choices
    to resume.
    """

    def compute(stop: threading.Event, update: Callable[..., TableProgress]) -> None:
        for step in steps(stop):
            if isinstance(step, RowDone):
                update(done=step.done, total=step.total, failed=step.failed)
                if stop.is_set():
                    return
                continue
            save(step)
            update(result=step)
            shutil.rmtree(given.folder, ignore_errors=True)

    return compute


def chosen(sources: Sequence[str]) -> Settings | str:
    """Return the settings of a table, or why they cannot be used."""
    base = choices.endpoint()
    if isinstance(base, str):
        return base
    try:
        return demanded({"sources": tuple(sources)}, base)
    except AttributionError as error:
        return choices.explain(error)[0]


def start(
    numbered: PaperTable,
    content: bytes,
    project: str,
    models: Sequence[str],
    settings: Settings,
) -> None:
    """Compute a table, or go on with the answers that an earlier start with the same choices has
    finished.
    """
    key = content_id(numbered.id, content.hex(), settings.identity, *models, state.browser())
    try:
        rows, folder = rows_of(numbered, content), data_folder() / "papers" / key
        given = TableInputs(settings, folder, rows, project, tuple(models))
    except BadInput as error:
        JOB.refuse(error.public(), "The table cannot be computed")
        return
    id, browser = new_run_id(), state.browser()

    def steps(stop: threading.Event) -> Iterator[RowDone | Reproduced]:
        return in_turns(browser, stop, reproduce(numbered.id, given))

    JOB.launch(
        TableProgress(total=len(given.rows)),
        work(given, steps, partial(TABLE.save, store(), id)),
        id,
    )


def rows_of(numbered: PaperTable, content: bytes) -> list[Row]:
    """Read the rows that a table is computed from. BadInput for too many."""
    if not content:
        return []
    field = "response" if numbered.id.startswith("T24") else "answer"
    rows = parse_rows(content, [field], ["question", "system", "split"])
    if len(rows) > LIMIT:
        raise BadInput(
            f"the file has {len(rows):,} rows, and this page takes {LIMIT}: use `reproduce` on the command line"
        )
    return rows


# --- the page ---


def form(running: bool) -> None:
    """Draw the table to compute, what it needs, and the buttons."""
    with st.container(key="form"):
        options, buttons = st.columns([5, 1])
        with options:
            number = st.selectbox(
                "Table",
                [table.id for table in tables()],
                key="paper_number",
                format_func=lambda i: f"{i} {find(i).title}",
                help="The tables of the four papers that can be computed.",
            )
            numbered = find(str(number))
            small(f"Needs {numbered.needs}.")
            content, project, models = choose_input(numbered)
            source = st.segmented_control(
                "Sources",
                list(SOURCES),
                default="Built-in library",
                key="paper_sources",
                required=True,
                help="Where claims are searched for; the papers searched the web.",
            )
        found = chosen(SOURCES[source or "Built-in library"])
        if isinstance(found, str):
            note("These settings cannot be used", found, label="contradicted")
        ready = not isinstance(found, str) and bool(content or project)
        with buttons:
            begin = partial(
                start,
                numbered,
                content,
                project,
                models,
                found if not isinstance(found, str) else Settings(),
            )
            JOB.buttons(
                "Compute",
                begin,
                running,
                ready,
                "Finished answers are kept: the same choices resume.",
            )


def choose_input(numbered: PaperTable) -> tuple[bytes, str, list[str]]:
    """Draw what a table is computed from: an annotation project, or a file and the language models
    to ask.
    """
    project = ""
    if numbered.id.startswith("R23") or numbered.id in ("V24.T2", "V24.T4"):
        projects = [p.name for p in Annotations(store().database).projects()]
        if not projects:
            small("There is no annotation project yet.")
        index = None if numbered.id == "V24.T4" else 0
        project = (
            st.selectbox("Project", projects, index, key="paper_project", help="Of Annotation.")
            or ""
        )
        if numbered.id != "V24.T4":
            return b"", project, []
    what = "labelled responses" if numbered.id.startswith("T24") else "answers"
    upload = st.file_uploader(
        what.capitalize(),
        ["jsonl", "json", "txt"],
        key="paper_file",
        help=f"JSON Lines of {what}, as for `reproduce` on the command line.",
        max_upload_size=LIMITS.file_mb,
    )
    models = st.text_input(
        "Language models",
        key="paper_models",
        max_chars=LIMITS.line,
        help="Models of the endpoint in Options, separated by spaces, in place of the paper's.",
    )
    return upload.getvalue() if upload else b"", project, models.split()


def result(now: TableProgress) -> None:
    """Draw the table and its notes."""
    if now.running:
        return
    if now.result is None:
        if not now.error:
            known = f"{now.done} of {plural(now.total, 'answer')} done; compute again with the same choices to resume."
            note("Stopped before the table was whole", known)
        return
    made = now.result
    section(made.table.title)
    link("Link to this table", **state.address(JOB.name))
    rows = [list(map(format_cell, row)) for row in made.table.rows]
    show(scrolling(table(made.table.columns, rows, class_="ax-table wide"), made.table.title))
    if made.notes:
        show(el("ul", *(el("li", line) for line in made.notes), class_="ax-quiet"))
    name = made.number.replace(".", "-")
    files = {
        "Markdown": File(made.table.markdown(), f"{name}.md", "text/markdown"),
        "CSV": File(made.table.csv(), f"{name}.csv", "text/csv"),
    }
    if made.tasks:
        files["Tasks for people"] = File(made.tasks, "tasks.jsonl", "application/json")
    downloads(files)


if __name__ == "__main__":
    frame.begin(
        "papers",
        "Tables of the papers",
        "Compute a numbered table of the four papers: its printed figures beside ours.",
        paper=JOB.open,
    )
    JOB.draw(form, result)
