"""Method cards: what each method does, needs, sends away, was measured to do here, and is known to get wrong.

One YAML file a table. Figures are read from the files of benchmarks, so that a card cannot say another number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from attribution.registry import Entry, Table, load
from attribution.settings import ROOT, Settings
from attribution.types import Frozen

TABLES = {
    "segmenters": "attribution.segmenters:SEGMENTERS",
    "verifiers": "attribution.verifiers:VERIFIERS",
    "embedders": "attribution.embedders:EMBEDDERS",
    "groundedness": "attribution.evaluation.groundedness:METHODS",
}  # each has a card for every entry
TITLES = {
    "segmenters": "Segmenters: from an answer to its claims",
    "verifiers": "Verifiers: does a passage support a claim?",
    "embedders": "Embedders: which passages are near a claim?",
    "groundedness": "Groundedness: is an answer as a whole supported?",
}
FIGURES = ROOT / "docs" / "figures"
_FOLDER = Path(__file__).parent


class Measure(Frozen):
    """A figure that was measured in this project: a place in a file of docs/figures, or words of a page of docs."""

    what: str
    figure: str = ""  # "file.json: key / key / key"
    value: str = ""  # as the page has it
    source: str = ""  # the page, such as docs/measurements.md

    def shown(self) -> str:
        """The figure as text; empty where its file is not there."""
        return format_figure(read_figure(self.figure)) if self.figure else self.value

    @property
    def origin(self) -> str:
        return f"docs/figures/{self.figure.partition(':')[0]}" if self.figure else self.source


class Card(Frozen):
    does: str
    paper: str = ""  # and section; empty: of this project
    leaves: str = "Nothing."  # what leaves the machine
    needs: str = ""  # beyond the entry's own needs
    measured: tuple[Measure, ...] = ()  # empty: not measured here
    fails: tuple[str, ...] = Field((), min_length=1)  # known failures


@dataclass(frozen=True)
class Listed:
    """A card with the entry of its table; None where the table is not part of this installation."""

    name: str
    card: Card
    entry: Entry | None

    @property
    def label(self) -> str:
        return self.entry.label if self.entry else self.name


@cache
def cards(table: str) -> Mapping[str, Card]:
    """The cards of a table by name."""
    rows = yaml.safe_load((_FOLDER / f"{table}.yaml").read_text(encoding="utf-8"))
    return {str(name): Card.model_validate(row) for name, row in rows.items()}


def names() -> list[str]:
    """The tables that have cards, in the order of a run."""
    return [name for name in TITLES if (_FOLDER / f"{name}.yaml").exists()]


def listed(table: str) -> list[Listed]:
    """The cards of a table in the order of its entries."""
    entries: Table = load(TABLES[table]) if table in TABLES else {}
    found = cards(table)
    order = [*(n for n in entries if n in found), *(n for n in found if n not in entries)]
    return [Listed(name, found[name], entries.get(name)) for name in order]


def steps(of: Listed, settings: Settings | None = None) -> str:
    """What it still needs under these settings; empty if it is ready or its table says nothing."""
    return of.entry.missing(settings) if of.entry else ""


def read_figure(place: str) -> Any:
    """The value at "file.json: key / key"; a key of a list is "field=value" of one of its rows. None without the file.

    LookupError for a place that the file does not have.
    """
    name, _, path = place.partition(":")
    file = FIGURES / name.strip()
    if not file.exists():
        return None
    value: Any = json.loads(file.read_text(encoding="utf-8"))
    for key in map(str.strip, path.split(" / ")):
        value = _row(value, key) if isinstance(value, list) else value[key]
    return value


def _row(rows: Sequence[Any], conditions: str) -> Any:
    wanted = [part.partition("=")[::2] for part in conditions.split(", ")]
    for row in rows:
        if all(str(row.get(field)) == value for field, value in wanted):
            return row
    raise LookupError(f"no row with {conditions}")


def format_figure(value: Any) -> str:
    """A number with three digits; {"right", "of"} as "36 of 41"."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return f"{value['right']} of {value['of']}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
