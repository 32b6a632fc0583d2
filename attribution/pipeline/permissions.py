"""Check the settings that a stranger asks for against the operator's: the only way from foreign
data to settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import ValidationError

from attribution.embedders import EMBEDDERS
from attribution.errors import BadSetting
from attribution.searchers import SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.server_settings import hub_models
from attribution.settings import TRUST, Settings, Trust
from attribution.tables import Source
from attribution.verifiers import VERIFIERS

VARIABLE = "ATTRIBUTION_HUB_MODELS"
WEB_ADDRESS = ("http://", "https://")
NOTHING = ("documents",)  # the sources if none of those asked for may be read: nothing is searched


@dataclass
class Filtered:
    """The settings that were asked for, divided into chosen, refused and overruled ones."""

    chosen: dict[str, object] = field(default_factory=dict)  # by name: the values that apply
    # why a value that was asked for cannot apply
    refused: dict[str, str] = field(default_factory=dict)
    # why the operator's value applies in its place
    overruled: dict[str, str] = field(default_factory=dict)


def filter_asked(asked: Mapping[str, object], own: Settings) -> Filtered:
    """Divide the settings that a stranger asks for; `own` are the operator's, which apply where
    nothing is asked for.

    Sources that may not be read are left out of `chosen`. A limit above the operator's is lowered
    to it.
    """
    filtered = Filtered()
    for name, value in asked.items():
        trust = TRUST.get(name, "anyone")
        if trust in ("operator", "session", "endpoint", "place"):
            filtered.overruled[name] = "it cannot be chosen here; leave it out"
            continue
        try:
            fitting = getattr(Settings(**{name: value}), name)
        except ValidationError as error:
            filtered.refused[name] = Settings.from_validation_error(error).reason
            continue
        _judge(filtered, name, trust, fitting, getattr(own, name))
    return filtered


def _judge(filtered: Filtered, name: str, trust: Trust, value: Any, own: Any) -> None:
    match trust:
        case "limit" if value > own:
            filtered.overruled[name] = (
                f"found {value:,}, but this server allows {own:,} at most: lower it or leave it out"
            )
            value = own
        case "sources":
            forbidden = [text for text in value if not _may_be_read(text)]
            if forbidden:
                filtered.refused[name] = (
                    f"{forbidden[0][:80]!r} cannot be read here; expected library, web, the name "
                    "of a search engine or an http(s) address: files and folders of this machine "
                    "are read from the command line alone"
                )
                value = tuple(text for text in value if _may_be_read(text)) or NOTHING
        case "model" if value not in ("", own, *allowed_models()):
            filtered.refused[name] = (
                f"the model {value[:80]!r} is not allowed here; expected one of "
                f"{', '.join(allowed_models())}, or one that the operator adds to {VARIABLE}"
            )
            return
    filtered.chosen[name] = value


def of_saved_run(saved: Mapping[str, object], own: Settings, *ignored: Trust) -> Settings:
    """Return the operator's settings, changed where a saved run may choose.

    Raises BadSetting for a setting that would make it a different run, unless its kind is among the
    ignored; settings that no longer exist are skipped.
    """
    known = {name: value for name, value in saved.items() if name in Settings.model_fields}
    filtered = filter_asked(known, own)
    for name, reason in filtered.refused.items():
        if TRUST.get(name) not in ignored:
            raise BadSetting(name, reason)
    return own.model_copy(update=filtered.chosen)


def demanded(asked: Mapping[str, object], own: Settings) -> Settings:
    """Return the operator's settings, changed as a client asks.

    Raises BadSetting for the first setting that isn't permitted.
    """
    filtered = filter_asked(asked, own)
    for name, reason in (filtered.refused | filtered.overruled).items():
        raise BadSetting(name, reason)
    return own.model_copy(update=filtered.chosen)


def allowed_models() -> Sequence[str]:
    """Return the hub models that a stranger may name: the operator's list, or those that the tables
    name.
    """
    return hub_models() or _named_in_tables()


@cache
def _named_in_tables() -> tuple[str, ...]:
    models: list[str] = []
    for table in (SEGMENTERS, EMBEDDERS, VERIFIERS):
        for entry in table.values():
            models += entry.models
    return tuple(dict.fromkeys(models))


def _may_be_read(text: str) -> bool:
    """Return True if the source is not a file or folder, and its address, if any, is on the web."""
    source = Source.of(text)
    if source.kind in ("address", "instance"):
        return source.name.lower().startswith(WEB_ADDRESS)
    return source.kind != "path" and (source.kind != "engine" or source.name in SEARCHERS)
