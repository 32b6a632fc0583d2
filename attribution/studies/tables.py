"""Tables of a study, and the results of many answers that they are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from attribution.files import Cell, Row, csv_text, format_cell, replace_text
from attribution.run.experiment import is_result, read_lines
from attribution.text.markdown import escape_markdown

T = TypeVar("T")
Failed = tuple[int, str, str]  # line, start of the answer, error
EXCERPT = 80  # characters of an answer that failed
_NOT_LETTERS = re.compile(r"[^a-z]+")


@dataclass(frozen=True)
class Table:
    """A table of results, such as a row for each segmenter."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def markdown(self) -> str:
        head = f"| {' | '.join(self.columns)} |\n|{'---|' * len(self.columns)}"
        cells = (" | ".join(escape_markdown(format_cell(cell)) for cell in row) for row in self.rows)
        return f"### {self.title}\n\n{head}\n" + "".join(f"| {row} |\n" for row in cells)

    def csv(self) -> str:
        return csv_text([self.columns, *self.rows])


def failure(row: Row, error: str) -> Failed:
    """Return the row of the table of failed answers."""
    return row.line, " ".join(str(row.fields.get("answer") or "").split())[:EXCERPT], error


def failed_answers(failed: Sequence[Failed]) -> tuple[Table, ...]:
    """Tabulate the answers that failed, if there are any."""
    return (Table("Failed answers", ("line", "answer", "error"), tuple(failed)),) if failed else ()


def read_results(path: Path, field: str, adapter: TypeAdapter[T]) -> tuple[list[T], list[Failed]]:
    """Read the results of an experiment, and its failed answers."""
    results: list[T] = []
    failed: list[Failed] = []
    for _, line in read_lines(path):
        if is_result(line):
            results.append(adapter.validate_python(line[field]))
        else:
            failed.append(failure(Row(int(str(line["line"])), line), str(line["error"])))
    return results, failed


def write_tables(results: Sequence[Table], folder: Path) -> None:
    """Write the tables as tables.md and a CSV file each."""
    replace_text(folder / "tables.md", "\n".join(t.markdown() for t in results))
    for table in results:
        name = _NOT_LETTERS.sub("-", table.title.partition(":")[0].partition(",")[0].lower()).strip("-")
        replace_text(folder / f"{name}.csv", table.csv())
