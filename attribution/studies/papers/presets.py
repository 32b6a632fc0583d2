"""Settings as in a paper: each with its section, and what stands in where this machine lacks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attribution.embedders import EMBEDDERS
from attribution.models.files import weights
from attribution.searchers import SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.studies.papers import paper
from attribution.tables import LLM, Entry
from attribution.verifiers import VERIFIERS

TABLES: Mapping[str, Mapping[str, Entry]] = {
    "segmenter": SEGMENTERS,
    "embedder": EMBEDDERS,
    "verifier": VERIFIERS,
    "sources": SEARCHERS,
}
MODELS = {  # table → the setting that names its model
    "segmenter": "segmenter_model",
    "embedder": "embedding_model",
    "verifier": "verifier_model",
    "sources": "",
}


@dataclass(frozen=True)
class StoodIn:
    """A value of a paper that this machine lacks, and the one taken in its place."""

    setting: str
    wanted: str
    taken: str
    needs: str  # what to do to have the paper's own

    def __str__(self) -> str:
        return (
            f"{self.taken or 'nothing'} stands in for {self.wanted} ({self.setting}): {self.needs}"
        )


@dataclass(frozen=True)
class Preset:
    values: dict[str, Any]  # by setting
    stood_in: tuple[StoodIn, ...]


def preset(name: str, own: Settings) -> Preset:
    """Return a paper's settings, as far as this machine has what they name. UnknownName for another
    paper.
    """
    wanted = paper(name).settings
    values: dict[str, Any] = {}
    stood_in = []
    for setting, choice in wanted.items():
        needs = _missing(setting, {n: one.value for n, one in wanted.items()}, own)
        values[setting] = choice.instead if needs else choice.value
        if needs and not setting.endswith("_model"):  # of the method, which is named
            stood_in.append(StoodIn(setting, _words(choice.value), _words(choice.instead), needs))
    return Preset(values, tuple(stood_in))


def concerning(needs: str, found: Preset, own: Settings) -> list[StoodIn]:
    """Return what stood in for a paper's values in these settings, of those that a table with such
    needs reads.

    Segmenters and verifiers are chosen by the table, which names what stood in for each of its
    rows.
    """
    left_out = {"segmenter", "verifier"} | (set() if "sources" in needs else {"sources"})
    chosen = {name: _words(value) for name, value in own.model_dump(mode="json").items()}
    return [s for s in found.stood_in if s.setting not in left_out and s.taken == chosen[s.setting]]


def _words(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _missing(setting: str, wanted: Mapping[str, Any], own: Settings) -> str:
    """Return the steps that a value needs on this machine; empty if it is ready."""
    table = next((name for name, model in MODELS.items() if setting in (name, model)), "")
    if not table:
        return LLM.step if wanted[setting] == "llm" and not own.has_llm else ""
    (name, *_) = wanted[table] if isinstance(wanted[table], list) else (wanted[table],)
    return lacking(TABLES[table][name], own, str(wanted.get(MODELS[table]) or ""))


def lacking(entry: Entry, own: Settings, model: str = "") -> str:
    """Return the steps that a method and its model, by default the entry's first, need here; empty
    if ready.
    """
    model = model or next(iter(entry.models), "")
    missing = entry.missing(own)
    return missing or (
        f"download it once with `hf download {model}`" if model and not weights(model) else ""
    )
