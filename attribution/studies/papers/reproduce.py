"""Compute a numbered table of a paper: its rows and columns, its printed figures beside ours, and
the difference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attribution import events
from attribution.claims.enrichment import turns_of
from attribution.errors import BadInput
from attribution.files import Cell, Row, replace_text
from attribution.pipeline.batch import documents_of
from attribution.pipeline.experiment import Experiment, Fields, RowDone, is_result, read_lines
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.studies.annotation.tasks import FORMS, Form
from attribution.studies.papers import NAMES, Numbered, paper
from attribution.studies.papers.presets import StoodIn, lacking
from attribution.studies.results import ResultTable
from attribution.tables import Entry, load
from attribution.types import Claim, Report
from attribution.verifiers import VERIFIERS
from attribution.verifiers.auto import choose

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LIBRARY = "library"
JSON, MARKDOWN, ANSWERS, TASKS = "table.json", "table.md", "answers.jsonl", "tasks.jsonl"
READ = (
    "question",
    "answer",
    "documents",
    "turns",
    "claims",
    "system",
    "factscore",
    "facts",
)  # of a row
AHEAD = "ahead.jsonl"  # what is made of all answers before the table itself
MODULES = {
    "V24": "attribution.studies.papers.answers:compute",
    "W24": "attribution.studies.papers.decompositions:compute",
    "R23": "attribution.studies.papers.annotations:compute",
    "T24": "attribution.studies.papers.groundedness:compute",
}


@dataclass
class TableInputs:
    """The inputs of a table. `stood_in` grows while the methods are chosen; `notes` are there at
    the end.
    """

    settings: Settings
    folder: Path
    rows: Sequence[Row] = ()  # answers, or labelled responses
    project: str = ""  # of annotations
    models: tuple[str, ...] = ()  # language models in the places of GPT-3.5 and GPT-4
    sample: int = 0  # most claims of a stratum whose pairs are judged (V24 5.3); 0: all
    stood_in: list[StoodIn] = field(default_factory=list)
    notes: tuple[
        str, ...
    ] = ()  # of a finished table: what stood in for what, and what was made otherwise

    def take(
        self, place: str, table: Mapping[str, Entry], name: str, instead: str, model: str = ""
    ) -> str:
        """Return the paper's own method where it is ready, else what stands in for it, which is
        noted.
        """
        needs = lacking(table[name], self.settings, model)
        if instead == "auto":
            instead = choose(self.settings).name
        if needs:
            self.note(place, name, instead, needs)
        return instead if needs else name

    def judge(self, place: str, name: str, *same: str) -> str:
        """Return the paper's verifier or what stands in for it: that of the settings, if another
        was named there.
        """
        chosen = self.settings.verifier
        if chosen in ("auto", name, *same):
            return self.take(place, VERIFIERS, name, "auto")
        self.note(place, name, chosen, "it was chosen as the verifier")
        return chosen

    def note(self, place: str, wanted: str, taken: str, needs: str) -> None:
        if (one := StoodIn(place, wanted, taken, needs)) not in self.stood_in:
            self.stood_in.append(one)

    def asking(self, place: int, wanted: str = "") -> Settings:
        """Return the settings with the language model in the place of GPT-3.5 (0), GPT-4 (1) or the
        one wanted.
        """
        model = (
            self.models[min(place, len(self.models) - 1)]
            if self.models
            else self.settings.openai_model
        )
        if self.settings.has_endpoint and model:
            self.note(
                "language model",
                wanted or ("GPT-3.5", "GPT-4")[place],
                model,
                "name others with --models",
            )
        return self.settings.model_copy(update={"openai_model": model})

    def to_judge(self, tasks: Sequence[Fields], form: Form) -> str:
        """Write the tasks that people have to judge, and say what to do with them."""
        text = "".join(json.dumps(task, ensure_ascii=False) + "\n" for task in tasks)
        replace_text(self.folder / TASKS, text)
        form_named = f"a project of the form “{FORMS[form]}” (Lab, Annotation)"
        return f"people judge the {len(tasks)} tasks of {TASKS}: import them into {form_named}, then name it by --project"

    def each(
        self, number: str, work: Callable[[Row], Any], *choices: object, file: str = ANSWERS
    ) -> Iterator[RowDone | list[Any]]:
        """Do the work on every answer; yield the progress, then all results. A killed run resumes."""
        own = [
            number,
            self.settings.identity,
            list(self.models),
            [str(one) for one in self.stood_in],
            *choices,
        ]
        path = self.folder / file

        def made(row: Row) -> Fields:
            return {"made": work(row)}

        yield from Experiment(self.rows, lambda: made, own, READ).run(path)
        yield [line["made"] for _, line in read_lines(path) if is_result(line)]


@dataclass(frozen=True)
class Computed:
    """Our figures of a table: by row, in the order of its columns. None where nothing was measured."""

    rows: Mapping[str, Sequence[Cell]]
    plots: Mapping[str, Figure] = field(default_factory=dict)  # by the number of the paper's figure
    notes: tuple[str, ...] = ()  # how they were made otherwise


def report_of(row: Row, claims: Sequence[Claim], settings: Settings) -> Report:
    """Check claims by the row's own `documents`, which stand in for the built-in library, and by
    the other sources.
    """
    if documents := documents_of(row):
        named = tuple(one for one in settings.sources if one not in (LIBRARY, "documents"))
        settings = settings.model_copy(update={"sources": (*named, "documents")})
    question, turns = str(row.fields.get("question") or ""), turns_of(row.fields.get("turns"))
    *_, last = run(
        question, str(row.fields["answer"]), settings, None, documents, claims=claims, context=turns
    )
    assert isinstance(last, events.Finished)
    return last.report


def computable(numbered: Numbered) -> bool:
    """Return True for a table that `reproduce` computes."""
    return ".T" in numbered.id and bool(numbered.columns)


def listed() -> list[Fields]:
    """Return every numbered table and figure of the papers, with what it needs."""
    return [
        {"id": one.id, "title": one.title, "needs": one.needs, "computed": computable(one)}
        for name in NAMES
        for one in paper(name).numbered.values()
    ]


def find(number: str) -> Numbered:
    """Return a table that can be computed. BadInput for any other number."""
    name, _, _ = number.partition(".")
    known = paper(name).numbered if name.lower() in NAMES else {}
    found = known.get(number.upper())
    if found is None or not computable(found):
        able = [str(one["id"]) for one in listed() if one["computed"]]
        reason = (
            f"is not computed: it needs {found.needs}"
            if found
            else "is no table of the four papers"
        )
        raise BadInput(f"{number} {reason}; expected one of {', '.join(able)}")
    return found


def reproduce(number: str, given: TableInputs) -> Iterator[RowDone | ResultTable]:
    """Yield the progress, write table.json, table.md and plots into the folder, and yield the
    table.

    BadInput for a table that cannot be computed, or without the rows or the project that it needs.
    """
    numbered = find(number)
    given.folder.mkdir(parents=True, exist_ok=True)
    bare = sum(not row.fields.get("documents") for row in given.rows)
    if "sources" in numbered.needs and bare and given.settings.sources == (LIBRARY,):
        known = any(one.setting == "sources" for one in given.stood_in)
        needs = f'it may say nothing of {bare} answers: give rows "documents", or name others with --sources'
        given.stood_in += (
            [] if known else [StoodIn("sources", "the answers' own sources", LIBRARY, needs)]
        )
    compute: Callable[[str, TableInputs], Iterator[RowDone | Computed]] = load(
        MODULES[numbered.id[:3]]
    )
    for one in compute(numbered.id[4:], given):
        if isinstance(one, RowDone):
            yield one
            continue
        table = beside(numbered, one.rows)
        given.notes = (
            *map(str, given.stood_in),
            *one.notes,
            *_compared(numbered, one, len(given.rows)),
        )
        _write(numbered, table, one, given)
        yield table


def beside(numbered: Numbered, ours: Mapping[str, Sequence[Cell]]) -> ResultTable:
    """Return the paper's rows with its figures, ours and the difference; then rows that only we
    have.

    Counts have no difference, since they grow with the answers; that of fractions is in percentage
    points.
    """
    counts = _counts(numbered)
    rows: list[tuple[Cell, ...]] = []
    for label in dict.fromkeys([*numbered.rows, *ours]):
        printed: Sequence[Cell] = numbered.rows.get(label) or (None,) * len(numbered.columns)
        own = list(ours.get(label) or (None,) * len(numbered.columns))
        row: list[Cell] = [label]
        for theirs, mine, count in zip(printed, own, counts, strict=True):
            one, other = (_number(cell) for cell in (theirs, mine))
            row += [
                theirs,
                mine,
                None if count or one is None or other is None else round(other - one, 4),
            ]
        rows.append(tuple(row))
    heads = [
        head for name in numbered.columns for head in (f"{name}, published", "ours", "difference")
    ]
    return ResultTable(f"{numbered.id} {numbered.title}", ("", *heads), tuple(rows))


def _counts(numbered: Numbered) -> list[bool]:
    """Return for each column whether the paper prints nothing but whole numbers in it."""
    columns = [[row[n] for row in numbered.rows.values()] for n in range(len(numbered.columns))]
    return [all(isinstance(cell, int) for cell in column) for column in columns]


def _number(cell: Cell) -> float | None:
    """Return a figure, or the percentage of a fraction such as "53/56"."""
    part, _, whole = cell.partition("/") if isinstance(cell, str) else ("", "", "")
    if part.isdecimal() and whole.isdecimal() and int(whole):
        return 100 * int(part) / int(whole)
    return cell if isinstance(cell, int | float) else None


def _compared(numbered: Numbered, made: Computed, answers: int) -> list[str]:
    """Say what our figures are of, where the table has counts or fractions, which depend on it."""
    of = (
        f"ours are of {answers} rows, the published ones of the paper's own"
        if answers
        else "ours are of the project"
    )
    fractions = any("/" in str(cell) for row in made.rows.values() for cell in row)
    said = ["counts are given without a difference"] if any(_counts(numbered)) else []
    said += ["differences of fractions are in percentage points"] if fractions else []
    return [f"{'; '.join(said)}: {of}"] if said and made.rows else []


def _write(numbered: Numbered, table: ResultTable, computed: Computed, given: TableInputs) -> None:
    fields: Fields = {
        "id": numbered.id,
        "title": numbered.title,
        "columns": numbered.columns,
        "published": {label: list(row) for label, row in numbered.rows.items()},
        "ours": {label: list(row) for label, row in computed.rows.items()},
        "stood_in": [vars(one) for one in given.stood_in],
        "notes": list(computed.notes),
        "settings": given.settings.public(),
        "models": list(given.models),
        "rows": len(given.rows),
    }
    replace_text(given.folder / JSON, json.dumps(fields, indent=1, ensure_ascii=False) + "\n")
    said = "".join(f"- {note}\n" for note in given.notes) or "- nothing\n"
    replace_text(given.folder / MARKDOWN, f"{table.markdown()}\nWhat stood in for what:\n\n{said}")
    for name, figure in computed.plots.items():
        replace_text(given.folder / f"{name}.html", figure.to_html(include_plotlyjs=True))


def share(part: int, whole: int, digits: int = 1) -> float | None:
    """Return a percentage; None of nothing."""
    return round(100 * part / whole, digits) if whole else None
