"""Tables of implementations: name → "module:Class", imported only when it is built."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attribution.errors import Unavailable, UnknownName
from attribution.settings import Settings, secret

IMPORTING = threading.RLock()  # packages with circular imports, such as spaCy, break where two threads import them


@dataclass(frozen=True)
class Need:
    """Something an implementation requires, and the step that provides it."""

    step: str
    package: str = ""  # an importable module
    variable: str = ""  # an environment variable
    setting: str = ""  # a field or property of Settings
    check: str = ""  # "module:function" that says whether it is there, without arguments

    def met(self, settings: Settings) -> bool:
        if self.package and importlib.util.find_spec(self.package) is None:
            return False
        if self.check and not load(self.check)():
            return False
        if self.setting and not getattr(settings, self.setting):
            return False
        return not self.variable or bool(secret(self.variable).get_secret_value())


@dataclass(frozen=True)
class Entry:
    """One row of a table: the implementation, and what pages and command line need to know to offer it."""

    target: str  # "module:Class", called with the settings
    label: str
    note: str = ""  # what a user should know before choosing it
    needs: tuple[Need, ...] = ()
    model_setting: str = ""  # the setting that names its model: the sidebar shows a box for it
    models: Mapping[str, str] = field(default_factory=dict)  # models of the hub for it, with a note; the default first
    english: bool = False  # its own model or rules read English only
    bundled: bool = False  # its model comes with the project: loaded, or first made, ahead of the first run
    download: str = ""  # "module:function" that gets its model ahead of the first run: progress, settings → where it is

    def missing(self, settings: Settings | None = None) -> str:
        """The steps that are still needed under these settings (by default the environment's); empty if it is ready."""
        settings = settings or Settings.from_environment()
        return "; ".join(need.step for need in self.needs if not need.met(settings))


Table = Mapping[str, Entry]

LLM = Need(
    "set OPENAI_MODEL, with OPENAI_API_KEY or, for a server of your own, OPENAI_BASE_URL (docs/llm.md)",
    setting="has_llm",
)
ENDPOINT = Need(
    "set OPENAI_API_KEY or, for a server of your own, OPENAI_BASE_URL (docs/llm.md)",
    setting="has_endpoint",
)


def build(table: Table, name: str, settings: Settings, kind: str) -> Any:
    """The implementation of that name. Raises UnknownName or Unavailable, with what to do."""
    if name not in table:
        raise UnknownName(f"{kind} {name!r}: expected one of {', '.join(table)}")
    entry = table[name]
    if missing := entry.missing(settings):
        raise Unavailable(f"{kind} {name!r} is not ready: {missing}")
    return load(entry.target)(settings)


def load(target: str) -> Any:
    """What "module:name" names."""
    module, _, attribute = target.partition(":")
    with IMPORTING:
        return getattr(importlib.import_module(module), attribute)
