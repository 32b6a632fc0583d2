"""The settings of V24's experiments as a preset of this program's."""

from __future__ import annotations

from typing import Any

from attribution.embedders import EMBEDDERS
from attribution.models.files import weights
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.studies.papers import paper
from attribution.tables import LLM, Entry, Table
from attribution.verifiers import VERIFIERS, choose

METHODS: dict[str, Table[Any]] = {
    "segmenter": SEGMENTERS,
    "embedder": EMBEDDERS,
    "verifier": VERIFIERS,
}


def preset() -> dict[str, Any]:
    """Return the settings of V24's experiments by name."""
    return {name: setting.value for name, setting in paper("v24").settings.items()}


def missing_of_preset(own: Settings) -> str:
    """Return what the first of V24's methods that isn't ready needs; empty if all are ready."""
    for name, value in preset().items():
        if name in METHODS:
            step = missing_step(METHODS[name][value], own)
        else:
            step = LLM.step if value == "llm" and not own.has_llm else ""
        if step:
            return f"{name} “{value}”: {step}"
    return ""


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
