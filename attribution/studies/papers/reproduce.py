"""Compute a table of one of the papers, with its printed figures beside ours."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attribution.errors import BadInput
from attribution.llm.client import replies_required
from attribution.pipeline.experiment import (
    Fields,
    RowDone,
    check,
    is_result,
    read_lines,
    run_rows,
)
from attribution.settings import Settings
from attribution.studies.papers import NAMES, PaperTable, paper
from attribution.studies.results import ResultTable
from attribution.tables import load
from attribution.text_files import Cell, Row, replace_text, rounded
from attribution.types import Claim, Document, Report

JSON, MARKDOWN, ANSWERS = "table.json", "table.md", "answers.jsonl"
INPUTS = ("question", "answer", "documents", "turns", "claims", "system")  # a result leaves out
OPTIONAL = ("question", "system")  # of a row
PUBLISHED = "published"


@dataclass(frozen=True)
class ComputedRow:
    """Our figures for one row of a table.

    Attributes:
        method: What made the figures, such as the names of segmenter and verifier.
        cells: In the order of the table's columns; None where nothing was measured.
    """

    method: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Computed:
    """Our rows of a table by the paper's labels, and what a reader should know about them."""

    rows: Mapping[str, ComputedRow]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Reproduced:
    """A finished table."""

    table: ResultTable
    notes: tuple[str, ...] = ()


Steps = Generator[RowDone, None, Computed]


@dataclass(frozen=True)
class TableInputs:
    """The inputs of a table.

    Attributes:
        folder: Results are written there; a killed run resumes from them.
        rows: Answers, or labelled responses.
        documents: Sources of all answers, with those that the settings name.
        models: Language models by the names of the paper's.
    """

    settings: Settings
    folder: Path
    rows: Sequence[Row] = ()
    documents: Sequence[Document] = ()
    models: Mapping[str, str] = field(default_factory=dict)

    def asking(self, name: str, settings: Settings | None = None) -> Settings:
        """Return settings that ask the language model in the place of one of the paper's.

        In the place of one that was not named, that of the settings is asked, else any.
        """
        settings = settings or self.settings
        model = self.models.get(name) or self.models.get("") or settings.openai_model
        model = model or next(iter(self.models.values()), "")
        return settings.model_copy(update={"openai_model": model})

    def each(
        self, methods: Sequence[object], work: Callable[[Row], Mapping[str, Any]]
    ) -> Generator[RowDone, None, dict[str, list[Any]]]:
        """Do the work on every answer.

        Args:
            methods: What is ready to make the results, as JSON.
            work: Fails where a language model does not reply.

        Returns:
            By the label of a table's row, what the work made of each answer.

        Raises:
            BadInput: Nothing was made of any answer.
        """
        path = self.folder / ANSWERS

        @replies_required()
        def fields(row: Row) -> Fields:
            return {"made": work(row)}

        choices = [*methods, self.settings.identity, dict(self.models), repr(self.documents)]
        yield from run_rows(self.rows, lambda: fields, choices, path, INPUTS)
        made: dict[str, list[Any]] = defaultdict(list)
        problem: object = ""
        for line in read_lines(path):
            problem = line.get("error", problem)
            results: Any = line["made"] if is_result(line) else {}
            for label, result in results.items():
                made[label].append(result)
        if not made:
            raise BadInput(f"no answer could be used: {problem}")
        return made

    def check(self, row: Row, claims: Sequence[Claim], settings: Settings) -> Report:
        """Check claims; the row's own `documents` replace the built-in library."""
        if row.fields.get("documents"):
            others = [name for name in settings.sources if name != "library"]
            settings = settings.model_copy(update={"sources": others})
        return check(row, settings, None, self.documents, claims)


def models_of(words: Sequence[str]) -> dict[str, str]:
    """Return language models by the name of the paper's; the key "" is for all others.

    Args:
        words: Such as “GPT-4=local”, or a name for all of them.
    """
    models: dict[str, str] = {}
    for word in words:
        name, _, model = word.strip().rpartition("=")
        models[name] = model
    return models


def subject(table: PaperTable) -> str:
    """Return the field that every row of the table's input has."""
    return "response" if table.id.startswith("T24") else "answer"


def texts_of(row: Row) -> tuple[str, str]:
    """Return question and answer."""
    return str(row.fields.get("question") or ""), str(row.fields["answer"])


def left_out(steps: Mapping[str, str]) -> list[str]:
    """Return a note for each row or column that needs a step first."""
    return [f"{name.rstrip(' -')}: left out: {step}" for name, step in steps.items() if step]


def tables() -> list[PaperTable]:
    """Return all tables that can be computed."""
    return [table for name in NAMES for table in paper(name).tables.values()]


def find(table_id: str) -> PaperTable:
    """Return a table by its id, such as V24.T4. Raises BadInput with those that exist."""
    by_id = {table.id: table for table in tables()}
    if table_id.upper() not in by_id:
        raise BadInput(f"{table_id} is not computed; expected one of {', '.join(by_id)}")
    return by_id[table_id.upper()]


def reproduce(table_id: str, inputs: TableInputs) -> Iterator[RowDone | Reproduced]:
    """Yield the progress, write table.json and table.md into the folder, and yield the table.

    Raises:
        BadInput: The table or a model's name is unknown.
    """
    table = find(table_id)
    name, number = table.id.split(".")
    known = paper(name).models
    for model in inputs.models:
        if model not in ("", *known):
            message = f"the paper has no language model {model!r}; expected {', '.join(known)}"
            raise BadInput(message)
    inputs.folder.mkdir(parents=True, exist_ok=True)
    compute = load(f"attribution.studies.papers.{name.lower()}:compute")
    computed: Computed = yield from compute(number, inputs)
    made = Reproduced(_beside(table, computed), tuple(computed.notes))
    data = {
        **table.model_dump(exclude={"needs", "rows"}),
        "published": table.rows,
        "ours": {label: row.cells for label, row in computed.rows.items()},
        "methods": {label: row.method for label, row in computed.rows.items()},
        "notes": made.notes,
        "settings": inputs.settings.public(),
    }
    notes = "".join(f"- {note}\n" for note in made.notes)
    written = json.dumps(data, indent=1, ensure_ascii=False, default=float)
    replace_text(inputs.folder / JSON, written + "\n")
    replace_text(inputs.folder / MARKDOWN, f"{made.table.markdown()}\n{notes}")
    yield made


def _beside(table: PaperTable, computed: Computed) -> ResultTable:
    """Put our rows below each row of the paper, then those that only we have."""
    rows: list[tuple[Cell, ...]] = []
    first, *_ = table.rows.values()
    digits = [len(str(figure).partition(".")[2]) for figure in first]
    for label in dict.fromkeys([*table.rows, *computed.rows]):
        if label in table.rows:
            rows.append((label, PUBLISHED, *map(str, table.rows[label])))
        if label in computed.rows:
            ours = computed.rows[label]
            rows.append((label, ours.method, *map(rounded, ours.cells, digits)))
    return ResultTable(f"{table.id} {table.title}", ("", "figures", *table.columns), tuple(rows))
