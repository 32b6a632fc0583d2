"""The four papers: their sections, and the tables that can be computed with this project's methods.

Each paper has a data file: headings, what its tables print, its language models, and for V24 the
settings of its experiments, which are a preset.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from attribution.embedders import EMBEDDERS
from attribution.errors import UnknownName
from attribution.models.files import weights
from attribution.searchers import SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.tables import LLM, Entry, Table
from attribution.types import Frozen
from attribution.verifiers import VERIFIERS

NAMES = ("v24", "w24", "r23", "t24")
METHODS: dict[str, Table[Any]] = {
    "segmenter": SEGMENTERS,
    "embedder": EMBEDDERS,
    "verifier": VERIFIERS,
    "sources": SEARCHERS,
}
Printed = int | float | str  # a figure of a table; text where it is no number, such as "53/56"


class PaperSetting(Frozen):
    """A setting of a paper's experiments.

    Attributes:
        section: The section that gives the value.
        instead: The value on a machine that lacks the paper's own.
    """

    value: object
    section: str
    instead: object = None


class Series(Frozen):
    """How the figures of a row are made.

    Attributes:
        segmenter: Of V24.
        method: Of T24.
        model: The paper's language model that segmenter or method asks.
        enricher: The model that enriches the dependent claims; without it, all stay as they are.
        changes: What differs from the settings.
    """

    segmenter: str = ""
    method: str = ""
    model: str = ""
    enricher: str = ""
    changes: dict[str, str | int] = {}


class PaperTable(Frozen):
    """A numbered table or figure of a paper, such as V24.T4."""

    id: str = ""
    title: str
    needs: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[Printed, ...]]
    series: dict[str, Series] = {}


class Paper(Frozen):
    """A paper.

    Attributes:
        sections: Headings by number.
        models: Its language models, in the order of the option `--models`.
        tables: Those that can be computed, by number, such as T4.
        other_numbers: The other tables and figures.
    """

    authors: str
    sections: dict[str, str]
    tables: dict[str, PaperTable]
    other_numbers: tuple[str, ...]
    models: tuple[str, ...] = ()
    settings: dict[str, PaperSetting] = {}


@cache
def paper(name: str) -> Paper:
    """Return a paper by its short name. Raises UnknownName with those that exist."""
    if name.lower() not in NAMES:
        raise UnknownName(f"paper {name!r}: expected one of {', '.join(NAMES)}")
    data = tomllib.loads(Path(__file__).with_name(f"{name.lower()}.toml").read_text("utf-8"))
    for number, table in data["tables"].items():
        table["id"] = f"{name.upper()}.{number}"
    return Paper.model_validate(data)


class Preset(NamedTuple):
    """A paper's settings on this machine.

    Attributes:
        stood_in: By setting, a sentence that names what was taken instead, and what the paper's
            own value needs.
    """

    values: dict[str, Any]
    stood_in: dict[str, str]


def preset(own: Settings) -> Preset:
    """Return the settings of V24 under the visitor's own settings."""
    made = Preset({}, {})
    for name, setting in paper("v24").settings.items():
        value, instead = (
            one[0] if isinstance(one, list) else one for one in (setting.value, setting.instead)
        )
        step = LLM.step if value == "llm" and not own.has_llm else ""
        if name in METHODS:
            step = missing_step(METHODS[name][str(value)], own)
        made.values[name] = setting.instead if step else setting.value
        if step:
            made.stood_in[name] = f"{instead} stands in for {value} ({name}): {step}"
    return made


def missing_step(entry: Entry, own: Settings) -> str:
    """Return what a method and its first model need; empty if they are ready."""
    step = entry.missing(own)
    model = next(iter(entry.models), "")
    if not step and model and not weights(model):
        return f"download it once with `hf download {model}`"
    return step
