"""The papers whose tables can be computed with this project's methods.

Each has a data file: what its tables print, its language models, and for V24 the settings of its
experiments, which are a preset.
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path

from attribution.errors import UnknownName
from attribution.types import Frozen

NAMES = ("v24", "w24", "t24")
Printed = int | Decimal  # a figure of a table, with the digits that the paper prints


class PaperSetting(Frozen):
    """A setting of a paper's experiments.

    Attributes:
        section: The section that gives the value.
    """

    value: str | int
    section: str


class Series(Frozen):
    """How the figures of a row are made.

    Attributes:
        segmenter: Of V24.
        method: Of T24.
        model: The paper's language model that segmenter or method asks.
        reader: A verifier that reads the pairs in place of the run's own.
        enricher: The model that enriches the dependent claims; without it, all stay as they are.
        changes: What differs from the settings.
    """

    segmenter: str = ""
    method: str = ""
    model: str = ""
    reader: str = ""
    enricher: str = ""
    changes: dict[str, str | int] = {}


class PaperTable(Frozen):
    """A numbered table of a paper, such as V24.T4."""

    id: str
    title: str
    needs: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[Printed, ...]]
    series: dict[str, Series] = {}


class Paper(Frozen):
    """A paper.

    Attributes:
        models: Its language models, in the order of the option `--models`.
        tables: Those that can be computed, by number, such as T4.
    """

    tables: dict[str, PaperTable]
    models: tuple[str, ...]
    settings: dict[str, PaperSetting] = {}


@cache
def paper(name: str) -> Paper:
    """Return a paper by its short name. Raises UnknownName with those that exist."""
    if name.lower() not in NAMES:
        raise UnknownName(f"paper {name!r}: expected one of {', '.join(NAMES)}")
    text = Path(__file__).with_name(f"{name.lower()}.toml").read_text("utf-8")
    return Paper.model_validate(tomllib.loads(text, parse_float=Decimal))
