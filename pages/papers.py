"""Papers: a numbered table of one of the four papers, its printed figures beside ours."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import streamlit as st
from pydantic import TypeAdapter

from attribution.errors import AttributionError, BadInput
from attribution.evidence.permissions import demanded
from attribution.files import Row, parse_rows
from attribution.pipeline.experiment import RowDone
from attribution.reports.html import el, plural
from attribution.settings import LIMITS, data_folder
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
from pages.ui.downloads import File, downloads
from pages.ui.frame import note, result_table, show, small
from pages.ui.job_page import JobPage
from pages.ui.state import store

LIMIT = 500  # rows of one file
SOURCES = {"Built-in library": "library", "The web": "web"}
TABLE = Saved("paper_table", TypeAdapter(Reproduced))
Steps = Callable[[threading.Event], Iterator[RowDone | Reproduced]]


@dataclass(frozen=True)
class TableProgress(background.JobProgress):
    """The state of a table at one moment."""

    done: int = 0  # answers
    total: int = 0
    failed: int = 0
    result: Reproduced | None = None

    def doing(self) -> str:
        doing = "Stopping" if self.stopping else "Computing"
        return f"{doing} … {self.done} of {plural(self.total, 'answer')} done"

    def share(self) -> float:
        return self.done / max(1, self.total)


def read(database: Store, id: str) -> TableProgress | None:
    """Load a saved table."""
    saved = TABLE.load(database, id)
    return TableProgress(result=saved, running=False) if saved else None


JOB = JobPage("paper", "table", read)


def work(
    given: TableInputs, steps: Steps, save: Callable[[Reproduced], None]
) -> Work[TableProgress]:
    """Compute a table. Until it is whole, finished answers stay in the folder, for the same choices
    to resume.
    """

    def compute(stop: threading.Event, update: Callable[..., TableProgress]) -> None:
        for step in steps(stop):
            if isinstance(step, Reproduced):
                save(step)
                update(result=step)
                shutil.rmtree(given.folder, ignore_errors=True)
            else:
                update(done=step.done, total=step.total, failed=step.failed)
                if stop.is_set():
                    return

    return compute


class Inputs(NamedTuple):
    """What a table is computed from."""

    content: bytes = b""  # of a file
    project: str = ""  # of annotation
    models: Sequence[str] = ()  # language models, in place of the paper's


def start(numbered: PaperTable, inputs: Inputs, source: str) -> None:
    """Compute a table, or go on with the answers of an earlier start with the same choices."""
    title = "The table cannot be computed"
    base = choices.endpoint()
    if isinstance(base, str):
        JOB.refuse(base, title)
        return
    models = tuple(inputs.models)
    try:
        settings = demanded({"sources": (source,)}, base)
        choice = (numbered.id, inputs.content.hex(), settings.identity, *models, state.browser())
        folder = data_folder() / "papers" / content_id(*choice)
        rows = rows_of(numbered, inputs.content)
        given = TableInputs(
            settings,
            folder,
            rows,
            inputs.project,
            models,
        )
    except AttributionError as error:
        JOB.refuse(choices.explain(error)[0], title)
        return
    id, browser = new_run_id(), state.browser()

    def steps(stop: threading.Event) -> Iterator[RowDone | Reproduced]:
        return in_turns(browser, stop, reproduce(numbered.id, given))

    job = work(given, steps, partial(TABLE.save, store(), id))
    JOB.launch(TableProgress(total=len(given.rows)), job, id)


def rows_of(numbered: PaperTable, content: bytes) -> list[Row]:
    """Read the rows that a table is computed from. BadInput for too many."""
    if not content:
        return []
    field = "response" if numbered.id.startswith("T24") else "answer"
    rows = parse_rows(content, [field], ["question", "system", "split"])
    if len(rows) > LIMIT:
        count = f"the file has {len(rows):,} rows, and this page takes {LIMIT}"
        raise BadInput(f"{count}: use `reproduce` on the command line")
    return rows


# --- the page ---


def form(running: bool) -> None:
    """Draw the table to compute, what it needs, and the buttons."""
    with st.container(key="form"):
        number = st.selectbox(
            "Table",
            [table.id for table in tables()],
            key="paper_number",
            format_func=lambda number: f"{number} {find(number).title}",
            help="The tables of the four papers that can be computed.",
        )
        numbered = find(str(number))
        small(f"Needs {numbered.needs}.")
        inputs = choose_inputs(numbered)
        source = st.segmented_control(
            "Sources",
            list(SOURCES),
            default="Built-in library",
            key="paper_sources",
            required=True,
            help="Where claims are searched for; the papers searched the web.",
        )
        begin = partial(start, numbered, inputs, SOURCES[source or "Built-in library"])
        ready = bool(inputs.content or inputs.project)
        help = "Finished answers are kept: the same choices resume."
        JOB.buttons(
            "Compute",
            begin,
            running,
            ready,
            help,
        )


def choose_inputs(numbered: PaperTable) -> Inputs:
    """Draw the choice of an annotation project, or of a file and the language models to ask."""
    project = ""
    if numbered.id.startswith("R23") or numbered.id in ("V24.T2", "V24.T4"):
        projects = [project.name for project in Annotations(store().database).projects()]
        if not projects:
            small("There is no annotation project yet.")
        index = None if numbered.id == "V24.T4" else 0
        help = "A project of Annotation."
        project = (
            st.selectbox(
                "Project",
                projects,
                index,
                key="paper_project",
                help=help,
            )
            or ""
        )
        if numbered.id != "V24.T4":
            return Inputs(project=project)
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
    return Inputs(upload.getvalue() if upload else b"", project, models.split())


def result(now: TableProgress) -> None:
    """Draw the table and its notes."""
    if now.running:
        return
    made = now.result
    if made is None:
        if not now.error:
            done = f"{now.done} of {plural(now.total, 'answer')} done"
            resume = f"{done}; compute again with the same choices to resume."
            note("Stopped before the table was whole", resume)
        return
    link("Link to this table", **state.address(JOB.name))
    show(result_table(made.table))
    show(el("ul", *(el("li", line) for line in made.notes), class_="ax-quiet"))
    name = made.number.replace(".", "-")
    files = {
        "Markdown": File(made.table.markdown(), f"{name}.md", "text/markdown"),
        "CSV": File(made.table.csv(), f"{name}.csv", "text/csv"),
    }
    if made.tasks:
        files["tasks for people"] = File(made.tasks, "tasks.jsonl", "application/json")
    downloads(files)


if __name__ == "__main__":
    frame.begin(
        "papers",
        "Tables of the papers",
        "Compute a numbered table of the four papers: its printed figures beside ours.",
        paper=JOB.open,
    )
    JOB.draw(form, result)
