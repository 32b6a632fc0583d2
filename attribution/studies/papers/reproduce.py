"""Compute a table of one of the four papers, with its printed figures beside ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attribution import events
from attribution.claims.enrichment import turns_of
from attribution.errors import BadInput
from attribution.files import Cell, Row, replace_text
from attribution.pipeline.batch import documents_of
from attribution.pipeline.experiment import Experiment, Fields, RowDone, is_result, read_lines
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.studies.annotation.tasks import FORMS, Form
from attribution.studies.papers import NAMES, PaperTable, paper
from attribution.studies.papers.presets import missing_step
from attribution.studies.results import ResultTable
from attribution.tables import Entry, load
from attribution.types import Claim, Report, content_id
from attribution.verifiers import VERIFIERS
from attribution.verifiers.auto import choose

LIBRARY = "library"
JSON, MARKDOWN, ANSWERS, TASKS = "table.json", "table.md", "answers.jsonl", "tasks.jsonl"
# Fields of a row that its result repeats.
INPUTS = ("question", "answer", "documents", "turns", "claims", "system", "factscore", "facts")
PUBLISHED = "published"


@dataclass(frozen=True)
class ComputedRow:
    """Our figures for one row of a table.

    Attributes:
        label: The row of the paper.
        method: What made the figures, such as the names of segmenter and verifier.
        cells: In the order of the table's columns; None where nothing was measured.
    """

    label: str
    method: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Computed:
    """Our rows of a table, and what a reader should know about them."""

    rows: Sequence[ComputedRow]
    notes: tuple[str, ...] = ()
    tasks: str = ""


@dataclass(frozen=True)
class Reproduced:
    """A finished table.

    Attributes:
        tasks: For people, as JSON Lines; empty if the table needs none.
    """

    number: str
    table: ResultTable
    notes: tuple[str, ...] = ()
    tasks: str = ""


Steps = Generator[RowDone, None, Computed]


@dataclass(frozen=True)
class TableInputs:
    """The inputs of a table.

    Attributes:
        folder: Results are written there; a killed run resumes from them.
        rows: Answers, or labelled responses.
        project: Name of an annotation project.
        models: Language models in the places of the paper's.
    """

    settings: Settings
    folder: Path
    rows: Sequence[Row] = ()
    project: str = ""
    models: tuple[str, ...] = ()

    def with_model(self, settings: Settings, place: int) -> Settings:
        """Return settings that ask the language model in this place, such as 1 for GPT-4 in V24."""
        if not self.models:
            return settings
        model = self.models[min(place, len(self.models) - 1)]
        return settings.model_copy(update={"openai_model": model})

    def verifier(self, wanted: str) -> str:
        """Return the verifier that was chosen or, if none was, the paper's or the best one."""
        if self.settings.verifier != "auto":
            return self.settings.verifier
        return available(VERIFIERS, wanted, choose(self.settings).name, self.settings)

    def each(self, key: str, work: Callable[[Row], Any]) -> Generator[RowDone, None, list[Any]]:
        """Do the work on every answer. Yield the progress; return the results."""
        path = self.folder / ANSWERS

        def fields(row: Row) -> Fields:
            return {"made": work(row)}

        choices = [key, self.settings.identity, list(self.models)]
        yield from Experiment(self.rows, lambda: fields, choices, INPUTS).run(path)
        return [line["made"] for _, line in read_lines(path) if is_result(line)]


def available(
    entries: dict[str, Entry], wanted: str, fallback: str, settings: Settings, model: str = ""
) -> str:
    """Return a paper's method if it is ready here, else the fallback."""
    return fallback if missing_step(entries[wanted], settings, model) else wanted


def report_of(row: Row, claims: Sequence[Claim], settings: Settings) -> Report:
    """Check claims; the row's own `documents` replace the built-in library."""
    documents = documents_of(row)
    if documents:
        others = tuple(one for one in settings.sources if one not in (LIBRARY, "documents"))
        settings = settings.model_copy(update={"sources": (*others, "documents")})
    question, answer = texts_of(row)
    turns = turns_of(row.fields.get("turns"))
    *_, last = run(question, answer, settings, None, documents, claims=claims, context=turns)
    assert isinstance(last, events.Finished)
    return last.report


def texts_of(row: Row) -> tuple[str, str]:
    """Return question and answer."""
    return str(row.fields.get("question") or ""), str(row.fields["answer"])


def sample(rows: Sequence[Row], size: int) -> list[Row]:
    """Draw some of the rows, always the same ones; 0 for all."""
    drawn = sorted(rows, key=lambda row: content_id(str(row.fields)))[: size or None]
    return sorted(drawn, key=lambda row: row.line)


def left_out(steps: Mapping[str, str]) -> tuple[str, ...]:
    """Return a note for each step that is missing, with all rows or columns that need it."""
    notes: list[str] = []
    for step in dict.fromkeys(filter(None, steps.values())):
        names = [name for name, own in steps.items() if own == step]
        notes.append(f"{', '.join(names)}: left out. {step[0].upper()}{step[1:]}")
    return tuple(notes)


def percent(part: int, whole: int) -> float | None:
    """Return a share in percent; None of nothing."""
    return 100 * part / whole if whole else None


def tables() -> list[PaperTable]:
    """Return all tables that can be computed."""
    return [table for name in NAMES for table in paper(name).tables.values()]


def find(table_id: str) -> PaperTable:
    """Return a table by its id, such as V24.T4. Raises BadInput with those that exist."""
    for table in tables():
        if table.id == table_id.upper():
            return table
    known = ", ".join(table.id for table in tables())
    raise BadInput(f"{table_id} is not computed; expected one of {known}")


def reproduce(table_id: str, inputs: TableInputs) -> Iterator[RowDone | Reproduced]:
    """Yield the progress, write table.json and table.md into the folder, and yield the table.

    Raises:
        BadInput: The table is unknown, or rows or a project that it needs are missing.
    """
    table = find(table_id)
    inputs.folder.mkdir(parents=True, exist_ok=True)
    name, number = table.id.split(".")
    compute = load(f"attribution.studies.papers.{name.lower()}:compute")
    computed: Computed = yield from compute(number, inputs)
    result = _beside(table, computed)
    _write(table, result, computed, inputs)
    yield Reproduced(table.id, result, computed.notes, computed.tasks)


def for_people(rows: Sequence[ComputedRow], tasks: Sequence[Fields], form: Form) -> Computed:
    """Return a table whose tasks people have to judge first."""
    lines = [json.dumps(task, ensure_ascii=False) + "\n" for task in tasks]
    note = (
        f"{TASKS} has {len(tasks)} tasks for people: import them into a project of the form "
        f"“{FORMS[form]}”, then name it with --project"
    )
    return Computed(rows, (note,), "".join(lines))


def _beside(table: PaperTable, computed: Computed) -> ResultTable:
    """Put our row below each row of the paper, then those that only we have."""
    rows: list[tuple[Cell, ...]] = []
    for label, cells in table.rows.items():
        rows.append((label, PUBLISHED, *map(str, cells)))
        rows += [
            (label, one.method, *_in_its_digits(one.cells, cells))
            for one in computed.rows
            if one.label == label
        ]
    rows += [
        (one.label, one.method, *one.cells) for one in computed.rows if one.label not in table.rows
    ]
    return ResultTable(f"{table.id} {table.title}", ("", "figures", *table.columns), tuple(rows))


def _in_its_digits(ours: Sequence[Cell], published: Sequence[float | str]) -> list[Cell]:
    """Write our figures with the digits that the paper prints."""
    cells: list[Cell] = []
    for cell, printed in zip(ours, published, strict=True):
        if isinstance(cell, float) and not isinstance(printed, str):
            digits = len(str(printed).partition(".")[2])
            cells.append(f"{cell:.{digits}f}")
        else:
            cells.append(cell)
    return cells


def _write(table: PaperTable, result: ResultTable, computed: Computed, inputs: TableInputs) -> None:
    notes = [f"- {note}\n" for note in computed.notes]
    replace_text(inputs.folder / MARKDOWN, f"{result.markdown()}\n{''.join(notes)}")
    data = {
        "id": table.id,
        "title": table.title,
        "columns": table.columns,
        "published": table.rows,
        "ours": {row.label: row.cells for row in computed.rows},
        "methods": {row.label: row.method for row in computed.rows},
        "notes": computed.notes,
        "settings": inputs.settings.public(),
    }
    text = json.dumps(data, indent=1, ensure_ascii=False)
    replace_text(inputs.folder / JSON, text + "\n")
    if computed.tasks:
        replace_text(inputs.folder / TASKS, computed.tasks)
