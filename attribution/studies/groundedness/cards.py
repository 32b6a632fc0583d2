"""Method cards: what each method does, needs and sends off the machine, its measured figures and
its known failures.

One YAML file per table. Figures are read from the benchmarks' files, so a card cannot state a
different number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from pydantic import Field, JsonValue

from attribution.settings import ROOT, Settings
from attribution.tables import Entry, load
from attribution.types import Frozen

TABLES = {
    "segmenters": "attribution.segmenters:SEGMENTERS",
    "verifiers": "attribution.verifiers:VERIFIERS",
    "embedders": "attribution.embedders:EMBEDDERS",
    "groundedness": "attribution.studies.groundedness:METHODS",
}  # each has a card for every entry
TITLES = {
    "segmenters": "Segmenters: from an answer to its claims",
    "verifiers": "Verifiers: does a passage support a claim?",
    "embedders": "Embedders: which passages are near a claim?",
    "groundedness": "Groundedness: is an answer as a whole supported?",
}
FIGURES = ROOT / "docs" / "figures"
_FOLDER = Path(__file__).parent / "cards"


class Measure(Frozen):
    """A figure measured in this project: a place in a file of docs/figures, or the words of a page
    of docs.
    """

    what: str
    figure: str = ""  # "file.json: key / key / key"
    value: str = ""  # as the page states it
    source: str = ""  # the page, such as docs/measurements.md

    def shown(self) -> str:
        """Return the figure as text; empty if its file is missing."""
        return format_figure(read_figure(self.figure)) if self.figure else self.value

    @property
    def origin(self) -> str:
        return f"docs/figures/{self.figure.partition(':')[0]}" if self.figure else self.source


class Card(Frozen):
    does: str
    paper: str = ""  # with the section; empty: this project's own
    leaves: str = "Nothing."  # what leaves the machine
    needs: str = ""  # beyond the entry's own needs
    measured: tuple[Measure, ...] = ()  # empty: not measured here
    fails: tuple[str, ...] = Field((), min_length=1)  # known failures


@dataclass(frozen=True)
class ListedCard:
    """A card with its entry in the table; None if the table is not part of this installation."""

    name: str
    card: Card
    entry: Entry | None

    @property
    def label(self) -> str:
        return self.entry.label if self.entry else self.name


@cache
def cards(table: str) -> Mapping[str, Card]:
    """Load the cards of a table by name."""
    rows = yaml.safe_load((_FOLDER / f"{table}.yaml").read_text(encoding="utf-8"))
    return {str(name): Card.model_validate(row) for name, row in rows.items()}


def names() -> list[str]:
    """Return the tables that have cards, in the order of a run."""
    return [name for name in TITLES if (_FOLDER / f"{name}.yaml").exists()]


def listed(table: str) -> list[ListedCard]:
    """Return the cards of a table in the order of its entries."""
    entries: Mapping[str, Entry] = load(TABLES[table]) if table in TABLES else {}
    found = cards(table)
    order = [*(n for n in entries if n in found), *(n for n in found if n not in entries)]
    return [ListedCard(name, found[name], entries.get(name)) for name in order]


def steps(of: ListedCard, settings: Settings | None = None) -> str:
    """Return the steps still needed under these settings; empty if it is ready or has no entry in a
    table.
    """
    return of.entry.missing(settings) if of.entry else ""


def read_figure(place: str) -> JsonValue:
    """Read the value at "file.json: key / key", where a key of a list is "field=value" of one of
    its rows.

    None without the file. Raises LookupError for a place that the file does not have.
    """
    name, _, path = place.partition(":")
    file = FIGURES / name.strip()
    if not file.exists():
        return None
    value: JsonValue = json.loads(file.read_text(encoding="utf-8"))
    for key in map(str.strip, path.split(" / ")):
        if isinstance(value, list):
            value = _row(value, key)
        elif isinstance(value, dict):
            value = value[key]
    return value


def _row(rows: Sequence[JsonValue], conditions: str) -> JsonValue:
    wanted = [part.partition("=")[::2] for part in conditions.split(", ")]
    for row in rows:
        if isinstance(row, dict) and all(str(row.get(field)) == value for field, value in wanted):
            return row
    raise LookupError(f"no row with {conditions}")


def format_figure(value: JsonValue) -> str:
    """Format a number with three digits; {"right", "of"} as "36 of 41"."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return f"{value['right']} of {value['of']}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
