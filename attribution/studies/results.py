"""Results of a study: saved in the store, tabulated, and with bootstrap intervals."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import TypeAdapter

from attribution.files import Cell, Row, csv_text, format_cell, replace_text
from attribution.pipeline.experiment import is_result, read_lines
from attribution.store.store import Store
from attribution.text.markdown import escape_markdown
from attribution.types import Page

T = TypeVar("T")
Failed = tuple[int, str, str]  # line, start of the answer, error
EXCERPT = 80  # characters of an answer that failed
_NOT_LETTERS = re.compile(r"[^a-z]+")


@dataclass(frozen=True)
class ResultTable:
    """A table of results, such as a row for each segmenter."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def markdown(self) -> str:
        head = f"| {' | '.join(self.columns)} |\n|{'---|' * len(self.columns)}"
        cells = (
            " | ".join(escape_markdown(format_cell(cell)) for cell in row) for row in self.rows
        )
        return f"### {self.title}\n\n{head}\n" + "".join(f"| {row} |\n" for row in cells)

    def csv(self) -> str:
        return csv_text([self.columns, *self.rows])


def failure(row: Row, error: str) -> Failed:
    """Return the row of the table of failed answers."""
    return row.line, " ".join(str(row.fields.get("answer") or "").split())[:EXCERPT], error


def failed_answers(failed: Sequence[Failed]) -> tuple[ResultTable, ...]:
    """Tabulate the answers that failed, if there are any."""
    return (
        (ResultTable("Failed answers", ("line", "answer", "error"), tuple(failed)),)
        if failed
        else ()
    )


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


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of what was measured; None of nothing."""
    measured = [value for value in values if value is not None]
    return sum(measured) / len(measured) if measured else None


def plotly() -> Any:
    """Return plotly's graph objects."""
    import numpy  # noqa: F401  # before plotly: it would use them half imported while another thread imports them
    import pandas  # noqa: F401
    import plotly.graph_objects

    return plotly.graph_objects


def write_tables(results: Sequence[ResultTable], folder: Path) -> None:
    """Write the tables as tables.md and a CSV file each."""
    replace_text(folder / "tables.md", "\n".join(t.markdown() for t in results))
    for table in results:
        name = _NOT_LETTERS.sub("-", table.title.partition(":")[0].partition(",")[0].lower()).strip(
            "-"
        )
        replace_text(folder / f"{name}.csv", table.csv())


@dataclass(frozen=True)
class Saved(Generic[T]):
    """The results of one kind."""

    kind: str
    adapter: TypeAdapter[T]

    def save(self, store: Store, result_id: str, result: T, pages: Sequence[Page] = ()) -> None:
        """Save a result, or how far it has come; the texts of its pages are saved apart, once."""
        store.results.save(self.kind, result_id, self.adapter.dump_json(result).decode(), pages)

    def load(self, store: Store, result_id: str) -> T | None:
        """Load a result, finished or not; None if there is none with that id. ValidationError for
        another version.
        """
        body = store.results.load(self.kind, result_id)
        return None if body is None else self.adapter.validate_json(body)


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Ints = NDArray[np.integer]

DRAWS, SEED = 2_000, 0  # resamples
BATCH = 200  # of them are in memory at once


def ratio(part: Ints, whole: Ints) -> Floats:
    """Divide counts; NaN where nothing was counted."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        return np.asarray(part / whole, dtype=float)


def interval(
    samples: Sequence[Ints], statistic: Callable[..., Floats], paired: bool = False
) -> tuple[float, float]:
    """Return the 95 % percentile interval of a statistic that takes an `axis`, as scipy's bootstrap
    calls it.

    Resamples in which the statistic is undefined (NaN) are left out.
    """
    import numpy as np
    from scipy import stats

    if min(map(len, samples)) < 2:  # nothing to draw from
        return (value := float(statistic(*samples))), value
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", stats.DegenerateDataWarning
        )  # scipy's own interval is not used
        drawn = stats.bootstrap(
            tuple(samples),
            statistic,
            n_resamples=DRAWS,
            batch=BATCH,
            paired=paired,
            vectorized=True,
            method="percentile",
            rng=SEED,
        )
    low, high = np.nanpercentile(drawn.bootstrap_distribution, [2.5, 97.5])
    return float(low), float(high)
