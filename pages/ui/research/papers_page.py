"""Papers: a numbered table of one of the papers, its printed figures beside ours."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import streamlit as st
from pydantic import TypeAdapter

from attribution.errors import AttributionError, BadInput
from attribution.pipeline.experiment import RowDone
from attribution.reports.html import el, plural
from attribution.settings import LIMITS, data_folder
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.papers import PaperTable, paper
from attribution.studies.papers import reproduce as papers
from attribution.studies.papers.reproduce import Reproduced, TableInputs
from attribution.studies.results import Saved
from attribution.text_files import Row, parse_rows
from attribution.types import content_id
from pages.ui import choices, state
from pages.ui.background import JobPage, JobProgress, Work, in_turns
from pages.ui.components import link
from pages.ui.form import advanced_menu, sources_control
from pages.ui.frame import File, downloads, note, result_table, show, small
from pages.ui.state import store

LIMIT = 500  # rows of one file
TABLE = Saved("paper_table", TypeAdapter(Reproduced))
Steps = Callable[[threading.Event], Iterable[RowDone | Reproduced]]


@dataclass(frozen=True)
class TableProgress(JobProgress):
    """The state of a table at one moment."""

    done: int = 0  # answers
    total: int = 0
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
    inputs: TableInputs, steps: Steps, save: Callable[[Reproduced], None]
) -> Work[TableProgress]:
    """Compute a table. Until it is whole, its folder keeps finished answers for a new start."""

    def compute(stop: threading.Event, update: Callable[..., TableProgress]) -> None:
        for step in steps(stop):
            if isinstance(step, Reproduced):
                save(step)
                update(result=step)
                shutil.rmtree(inputs.folder, ignore_errors=True)
            else:
                update(done=step.done, total=step.total)
                if stop.is_set():
                    return

    return compute


def start(table: PaperTable, content: bytes, models: str) -> None:
    """Compute a table, or go on with the answers of an earlier start with the same choices."""
    browser, documents = state.browser(), choices.documents()
    try:
        settings = choices.settings()
        if isinstance(settings, str):
            raise BadInput(settings)
        rows = rows_of(table, content)
    except AttributionError as error:
        JOB.refuse(choices.explain(error)[0], "The table cannot be computed")
        return
    choice = (table.id, content.hex(), models, repr(documents), browser)
    folder = data_folder() / "papers" / content_id(*choice, settings.identity)
    named = papers.models_of(models.split(","))
    inputs = TableInputs(settings, folder, rows, documents, named)
    id = new_run_id()

    def steps(stop: threading.Event) -> Iterable[RowDone | Reproduced]:
        return in_turns(browser, stop, papers.reproduce(table.id, inputs))

    job = work(inputs, steps, partial(TABLE.save, store(), id))
    JOB.launch(TableProgress(total=len(rows)), job, id)


def rows_of(table: PaperTable, content: bytes) -> list[Row]:
    """Read the rows that a table is computed from. Raises BadInput for too many."""
    rows = parse_rows(content, [papers.subject(table)], papers.OPTIONAL)
    if len(rows) > LIMIT:
        count = f"the file has {len(rows):,} rows, and this page takes {LIMIT}"
        raise BadInput(f"{count}: use `reproduce` on the command line")
    return rows


# --- the page ---


def form(running: bool) -> None:
    """Draw the table to compute, what it needs, and the inputs that `reproduce` takes."""
    with st.container(key="form"):
        number = st.selectbox(
            "Table",
            [table.id for table in papers.tables()],
            key="paper_number",
            format_func=lambda number: f"{number} {papers.find(number).title}",
            help="The tables that can be computed.",
        )
        table = papers.find(str(number))
        small(f"Needs {table.needs}.")
        upload = st.file_uploader(
            f"JSON Lines, each with “{papers.subject(table)}”",
            ["jsonl", "json", "txt"],
            key="paper_file",
            help="As for `reproduce` on the command line.",
            max_upload_size=LIMITS.file_mb,
        )
        sources_control()
        places = ", ".join(paper(table.id.partition(".")[0]).models)
        models = st.text_input(
            "Language models",
            key="paper_models",
            max_chars=LIMITS.line,
            help=f"One for all, or NAME=MODEL, … for those of the paper ({places}).",
        )
        content = upload.getvalue() if upload else b""
        begin = partial(start, table, content, models)
        JOB.buttons("Compute", begin, running, upload is not None, before=advanced_menu)


def result(now: TableProgress) -> None:
    """Draw the table and its notes."""
    made = now.result
    if made is None:
        if not now.running and not now.error:
            done = f"{now.done} of {plural(now.total, 'answer')} done"
            resume = f"{done}; compute again with the same choices to resume."
            note("Stopped before the table was whole", resume)
        return
    link("Link to this table", **state.address(JOB.name))
    show(result_table(made.table))
    show(el("ul", *(el("li", line) for line in made.notes), class_="ax-quiet"))
    name = made.table.title.split()[0]
    downloads(
        {
            "Markdown": File(made.table.markdown(), f"{name}.md", "text/markdown"),
            "CSV": File(made.table.csv(), f"{name}.csv", "text/csv"),
        }
    )


def page() -> None:
    """Draw the form and the table."""
    JOB.draw(form, result)
