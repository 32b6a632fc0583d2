"""Papers: a numbered table of one of the four papers, its printed figures beside ours."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

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
from attribution.studies.papers import PaperTable, paper
from attribution.studies.papers import reproduce as papers
from attribution.studies.papers.reproduce import Reproduced, TableInputs
from attribution.studies.results import Saved
from attribution.types import content_id
from pages.ui import background, choices, state
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
    """Compute a table. Until it is whole, its folder keeps finished answers for a new start."""

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


@dataclass(frozen=True)
class TableForm:
    """What the visitor chose: the options of `reproduce`."""

    content: bytes = b""  # of a file
    size: int = 0
    source: str = "library"
    project: str = ""
    models: str = ""


def start(numbered: PaperTable, chosen: TableForm) -> None:
    """Compute a table, or go on with the answers of an earlier start with the same choices."""
    title = "The table cannot be computed"
    base = choices.endpoint()
    if isinstance(base, str):
        JOB.refuse(base, title)
        return
    browser = state.browser()
    try:
        settings = demanded({"sources": (chosen.source,)}, base)
        choice = (numbered.id, repr(chosen), settings.identity, browser)
        given = TableInputs(
            settings,
            data_folder() / "papers" / content_id(*choice),
            rows_of(numbered, chosen),
            chosen.project,
            papers.models_of(chosen.models.split()),
        )
    except AttributionError as error:
        JOB.refuse(choices.explain(error)[0], title)
        return
    id = new_run_id()

    def steps(stop: threading.Event) -> Iterator[RowDone | Reproduced]:
        return in_turns(browser, stop, papers.reproduce(numbered.id, given))

    job = work(given, steps, partial(TABLE.save, store(), id))
    JOB.launch(TableProgress(total=len(given.rows)), job, id)


def rows_of(numbered: PaperTable, chosen: TableForm) -> list[Row]:
    """Read the rows that a table is computed from. Raises BadInput for too many."""
    if not chosen.content:
        return []
    rows = parse_rows(chosen.content, [papers.subject(numbered)], papers.OPTIONAL)
    if len(rows) > LIMIT:
        count = f"the file has {len(rows):,} rows, and this page takes {LIMIT}"
        raise BadInput(f"{count}: use `reproduce` on the command line")
    return papers.sample(rows, chosen.size)


# --- the page ---


def form(running: bool) -> None:
    """Draw the table to compute, what it needs, and the buttons."""
    with st.container(key="form"):
        number = st.selectbox(
            "Table",
            [table.id for table in papers.tables()],
            key="paper_number",
            format_func=lambda number: f"{number} {papers.find(number).title}",
            help="The tables of the four papers that can be computed.",
        )
        numbered = papers.find(str(number))
        small(f"Needs {numbered.needs}.")
        chosen = choose(numbered)
        JOB.buttons(
            "Compute",
            partial(start, numbered, chosen),
            running,
            bool(chosen.content or chosen.project),
        )


def choose(numbered: PaperTable) -> TableForm:
    """Draw the choice of input, sample, sources, project and language models."""
    upload = st.file_uploader(
        f"JSON Lines, each with “{papers.subject(numbered)}”",
        ["jsonl", "json", "txt"],
        key="paper_file",
        help="As for `reproduce` on the command line.",
        max_upload_size=LIMITS.file_mb,
    )
    size = st.number_input("Sample", 0, LIMIT, key="paper_size", help="So many rows; 0: all.")
    source = st.segmented_control(
        "Sources",
        list(SOURCES),
        default="Built-in library",
        key="paper_sources",
        required=True,
        help="Where claims are searched for, unless a row has “documents”.",
    )
    project = st.selectbox(
        "Annotation project",
        [project.name for project in Annotations(store().database).projects()],
        None,
        key="paper_project",
        help="Of R23, V24.T2 and V24.T4: what people judged.",
    )
    places = ", ".join(paper(numbered.id.partition(".")[0]).models) or "none"
    models = st.text_input(
        "Language models",
        key="paper_models",
        max_chars=LIMITS.line,
        help=f"One for all, or NAME=MODEL for each of the paper's ({places}).",
    )
    content = upload.getvalue() if upload else b""
    return TableForm(content, int(size), SOURCES[source], project or "", models)


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


def page() -> None:
    """Draw the form and the table."""
    JOB.draw(form, result)
