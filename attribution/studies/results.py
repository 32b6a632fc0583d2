"""Results of a study: saved in the store, tabulated, and with bootstrap intervals."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import TypeAdapter

from attribution.files import Cell, Row, csv_text, format_cell, replace_text
from attribution.pipeline.experiment import is_result, read_lines
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.markdown import escape_markdown
from attribution.types import Claim, Page, Report, Turn
from attribution.verifiers import with_policy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Ints = NDArray[np.integer]

T = TypeVar("T")
EXCERPT = 80  # characters of an answer that failed
DRAWS, SEED = 1_000, 0  # resamples
_NOT_LETTERS = re.compile(r"[^a-z]+")


@dataclass(frozen=True)
class ResultTable:
    """A table of results, such as a row for each segmenter."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def markdown(self) -> str:
        head = f"| {' | '.join(self.columns)} |\n|{'---|' * len(self.columns)}"
        lines = [f"### {self.title}\n", head]
        for row in self.rows:
            cells = [escape_markdown(format_cell(cell)) for cell in row]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        return csv_text([self.columns, *self.rows])


class FailedAnswer(NamedTuple):
    """An answer that could not be processed: its line, its beginning, and the error."""

    line: int
    answer: str
    error: str


def failure(row: Row, error: str) -> FailedAnswer:
    """Return the row of the table of failed answers."""
    beginning = " ".join(str(row.fields.get("answer") or "").split())[:EXCERPT]
    return FailedAnswer(row.line, beginning, error)


def failed_answers(failed: Sequence[FailedAnswer]) -> tuple[ResultTable, ...]:
    """Tabulate the answers that failed, if there are any."""
    if not failed:
        return ()
    return (ResultTable("Failed answers", FailedAnswer._fields, tuple(failed)),)


def read_results(
    path: Path, field: str, adapter: TypeAdapter[T]
) -> tuple[list[T], list[FailedAnswer]]:
    """Read the results of an experiment, and its failed answers."""
    results: list[T] = []
    failed: list[FailedAnswer] = []
    for _, line in read_lines(path):
        if is_result(line):
            results.append(adapter.validate_python(line[field]))
        else:
            failed.append(failure(Row(int(str(line["line"])), line), str(line["error"])))
    return results, failed


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the non-None values; None if there are none."""
    measured = [value for value in values if value is not None]
    return sum(measured) / len(measured) if measured else None


def ratio(part: float, whole: float) -> float | None:
    """Return a share; None of nothing."""
    return part / whole if whole else None


def blank_report(
    question: str,
    answer: str,
    settings: Settings,
    claims: Sequence[Claim],
    context: Sequence[Turn],
) -> Report:
    """Return a report of claims that were not checked yet."""
    return Report(
        id="",
        created_at="",
        question=question,
        answer=answer,
        settings=with_policy(settings).public(),
        versions={},
        claims=tuple(claims),
        context=tuple(context),
    )


def plotly() -> Any:
    """Return plotly's graph objects."""
    # plotly would use these half imported while another thread imports them
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import plotly.graph_objects

    return plotly.graph_objects


def write_tables(results: Sequence[ResultTable], folder: Path) -> None:
    """Write the tables as tables.md and a CSV file each."""
    replace_text(folder / "tables.md", "\n".join(table.markdown() for table in results))
    for table in results:
        subject = re.split("[:,]", table.title)[0].lower()
        name = _NOT_LETTERS.sub("-", subject).strip("-")
        replace_text(folder / f"{name}.csv", table.csv())


@dataclass(frozen=True)
class Saved(Generic[T]):
    """The saved results of one kind."""

    kind: str
    adapter: TypeAdapter[T]

    def save(self, store: Store, result_id: str, result: T, pages: Sequence[Page] = ()) -> None:
        """Save a result, finished or not; the texts of its pages are saved apart, once."""
        store.results.save(self.kind, result_id, self.adapter.dump_json(result).decode(), pages)

    def load(self, store: Store, result_id: str) -> T | None:
        """Load a result, finished or not; None if there is none with that id.

        Raises:
            ValidationError: Another version saved it.
        """
        body = store.results.load(self.kind, result_id)
        return None if body is None else self.adapter.validate_json(body)


def ratios(part: Ints, whole: Ints) -> Floats:
    """Divide counts; NaN where nothing was counted."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        return np.asarray(part / whole, dtype=float)


class Bounds(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float


def interval(counts: Ints, measure: Callable[[Ints], Floats]) -> Bounds:
    """Return the 95 % bootstrap interval of a measure.

    Args:
        counts: A row for each thing that is drawn, such as a task.
        measure: Of the sums of the drawn rows, along the last axis. Resamples in which it is NaN
            are left out.
    """
    import numpy as np

    number = len(counts)
    weights = np.random.default_rng(SEED).multinomial(number, [1 / number] * number, size=DRAWS)
    low, high = np.nanpercentile(measure(weights @ counts), [2.5, 97.5])
    return Bounds(float(low), float(high))
