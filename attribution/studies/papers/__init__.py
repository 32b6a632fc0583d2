"""The four papers: their sections, settings and tables, and each table computed with this project's
methods.

One data file a paper: headings, the settings of its experiments with the section of each, and what
its tables print.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from attribution.errors import UnknownName

NAMES = ("v24", "w24", "r23", "t24")
Printed = float | str  # a figure of a paper's table; text where it is none, such as "53/56"


@dataclass(frozen=True)
class PaperSetting:
    """A setting of a paper's experiments, and the section that gives its value."""

    value: object
    section: str
    instead: object = None  # taken where the machine lacks the value; None: nothing else can be


@dataclass(frozen=True)
class Numbered:
    """A numbered table or figure of a paper."""

    id: str  # V24.T4, T24.F2
    title: str
    needs: str
    columns: tuple[str, ...] = ()
    rows: Mapping[str, tuple[Printed, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    name: str
    authors: str
    sections: Mapping[str, str]  # number → heading
    settings: Mapping[str, PaperSetting]
    numbered: Mapping[str, Numbered]


@cache
def paper(name: str) -> Paper:
    """Return a paper by its short name. Raises UnknownName with those that exist."""
    if name.lower() not in NAMES:
        raise UnknownName(f"paper {name!r}: expected one of {', '.join(NAMES)}")
    short = name.upper()
    found = tomllib.loads(Path(__file__).with_name(f"{name.lower()}.toml").read_text("utf-8"))
    numbered = {
        f"{short}.{number}": Numbered(
            f"{short}.{number}",
            one["title"],
            one["needs"],
            tuple(one.get("columns", ())),
            {label: tuple(row) for label, row in one.get("rows", {}).items()},
        )
        for number, one in (found["tables"] | found["figures"]).items()
    }
    settings = {key: PaperSetting(**one) for key, one in found.get("settings", {}).items()}
    return Paper(short, found["authors"], found["sections"], settings, numbered)
