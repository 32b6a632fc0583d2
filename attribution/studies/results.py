"""Results of a study: tabulated, and saved in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from attribution.store.store import Store
from attribution.text.markdown import escape_markdown
from attribution.text_files import Cell, csv_text, format_cell
from attribution.types import Page

T = TypeVar("T")


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


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the non-None values; None if there are none."""
    measured = [value for value in values if value is not None]
    return sum(measured) / len(measured) if measured else None


def ratio(part: float, whole: float) -> float | None:
    """Return a share; None of nothing."""
    return part / whole if whole else None


def percent(part: float, whole: float) -> float | None:
    """Return a share in percent; None of nothing."""
    return 100 * part / whole if whole else None


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
