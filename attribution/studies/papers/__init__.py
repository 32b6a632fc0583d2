"""The four papers: their sections, and the tables that can be computed with this project's methods.

Each paper has a data file: headings, what its tables print, and for V24 the settings of its
experiments.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from attribution.errors import UnknownName

NAMES = ("v24", "w24", "r23", "t24")
Printed = float | str  # a figure of a table; text where it is no number, such as "53/56"


@dataclass(frozen=True)
class PaperSetting:
    """A setting of a paper's experiments.

    Attributes:
        section: The section that gives the value.
        instead: The value on a machine that lacks the paper's own.
    """

    value: object
    section: str
    instead: object = None


@dataclass(frozen=True)
class PaperTable:
    """A numbered table of a paper, such as V24.T4."""

    id: str
    title: str
    needs: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Printed, ...]]


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        sections: Headings by number.
        tables: Those that can be computed, by number, such as T4.
        other_numbers: The other tables and figures.
    """

    name: str
    authors: str
    sections: Mapping[str, str]
    tables: Mapping[str, PaperTable]
    other_numbers: tuple[str, ...]
    settings: Mapping[str, PaperSetting] = field(default_factory=dict)


@cache
def paper(name: str) -> Paper:
    """Return a paper by its short name. Raises UnknownName with those that exist."""
    if name.lower() not in NAMES:
        raise UnknownName(f"paper {name!r}: expected one of {', '.join(NAMES)}")
    short = name.upper()
    data = tomllib.loads(Path(__file__).with_name(f"{name.lower()}.toml").read_text("utf-8"))
    tables: dict[str, PaperTable] = {}
    for number, table in data["tables"].items():
        rows = {label: tuple(cells) for label, cells in table["rows"].items()}
        columns = tuple(table["columns"])
        tables[number] = PaperTable(
            f"{short}.{number}", table["title"], table["needs"], columns, rows
        )
    settings = {key: PaperSetting(**value) for key, value in data.get("settings", {}).items()}
    return Paper(
        short, data["authors"], data["sections"], tables, tuple(data["other_numbers"]), settings
    )
