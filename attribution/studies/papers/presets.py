"""Settings as in Vladika et al., with what stands in where this machine lacks a method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attribution.embedders import EMBEDDERS
from attribution.models.files import weights
from attribution.searchers import SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.studies.papers import PaperSetting, paper
from attribution.tables import LLM, Entry, Table
from attribution.verifiers import VERIFIERS

METHODS: dict[str, Table[Any]] = {
    "segmenter": SEGMENTERS,
    "embedder": EMBEDDERS,
    "verifier": VERIFIERS,
    "sources": SEARCHERS,
}


@dataclass(frozen=True)
class Preset:
    """A paper's settings on this machine.

    Attributes:
        stood_in: By setting, a sentence that names what was taken instead, and what the paper's
            own value needs.
    """

    values: dict[str, Any]
    stood_in: dict[str, str]


def preset(own: Settings) -> Preset:
    """Return the settings of V24 under the visitor's own settings."""
    values: dict[str, Any] = {}
    stood_in: dict[str, str] = {}
    for name, setting in paper("v24").settings.items():
        step = _missing_of(name, setting, own)
        values[name] = setting.instead if step else setting.value
        if step:
            words = f"{setting.instead} stands in for {setting.value} ({name}): {step}"
            stood_in[name] = words.replace("['", "").replace("']", "")
    return Preset(values, stood_in)


def missing_step(entry: Entry, own: Settings, model: str = "") -> str:
    """Return what a method and its model, by default the entry's first, need; empty if ready."""
    step = entry.missing(own)
    model = model or next(iter(entry.models), "")
    if not step and model and not weights(model):
        return f"download it once with `hf download {model}`"
    return step


def _missing_of(name: str, setting: PaperSetting, own: Settings) -> str:
    if name in METHODS:
        method = setting.value[0] if isinstance(setting.value, list) else setting.value
        return missing_step(METHODS[name][str(method)], own)
    return LLM.step if setting.value == "llm" and not own.has_llm else ""
