"""The settings of V24's experiments as a preset of this program's."""

from __future__ import annotations

from typing import Any, NamedTuple

from attribution.embedders import EMBEDDERS
from attribution.models.files import weights
from attribution.searchers import SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.studies.papers import paper
from attribution.tables import LLM, Entry, Table
from attribution.verifiers import VERIFIERS, choose

METHODS: dict[str, Table[Any]] = {
    "segmenter": SEGMENTERS,
    "embedder": EMBEDDERS,
    "verifier": VERIFIERS,
    "sources": SEARCHERS,
}


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


def named_verifier(settings: Settings) -> Settings:
    """Return settings with the verifier that `auto` stands for."""
    if settings.verifier != "auto":
        return settings
    return settings.model_copy(update={"verifier": choose(settings).name})


def missing_step(entry: Entry, own: Settings) -> str:
    """Return what a method and its first model need; empty if they are ready."""
    step = entry.missing(own)
    model = next(iter(entry.models), "")
    if not step and model and not weights(model):
        return f"download it once with `hf download {model}`"
    return step
