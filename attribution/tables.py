"""Tables of implementations: name → "module:Class", imported only when built."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from attribution.errors import Unavailable, UnknownName
from attribution.policy import DecisionPolicy
from attribution.settings import Settings, secret

T = TypeVar("T")
IMPORTING = (
    threading.RLock()
)  # packages with circular imports, such as spaCy, break if two threads import them


@dataclass(frozen=True)
class Need:
    """A requirement of an implementation, and the step that provides it."""

    step: str
    package: str = ""  # an importable module
    variable: str = ""  # an environment variable
    setting: str = ""  # a field or property of Settings
    check: str = ""  # "module:function" that returns True if it is there; called without arguments

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
    """A row of a table: an implementation, and what the pages and the command line need to offer
    it.
    """

    target: str  # "module:Class", called with the settings
    label: str
    note: str = ""  # what a user should know before choosing it
    needs: tuple[Need, ...] = ()
    model_setting: str = ""  # the setting that names its model: the sidebar shows a box for it
    models: Mapping[str, str] = field(
        default_factory=dict
    )  # models of the hub for it, with a note; the default first
    english: bool = False  # its own model or rules read English only
    bundled: bool = (
        False  # its model comes with the project: loaded, or first built, ahead of the first run
    )
    policy: DecisionPolicy = (
        DecisionPolicy()
    )  # of a verifier, where the settings choose nothing else
    # "module:function" that downloads its model ahead of the first run: progress, settings → path
    download: str = ""

    def missing(self, settings: Settings | None = None) -> str:
        """Return the steps still needed under these settings (by default the environment's); empty
        if it is ready.
        """
        settings = settings or Settings.from_environment()
        return "; ".join(need.step for need in self.needs if not need.met(settings))


class Table(dict[str, Entry], Generic[T]):
    """Entries of one kind by name, whose implementations follow the protocol T."""

    def __init__(self, kind: str, entries: Mapping[str, Entry]) -> None:
        super().__init__(entries)
        self.kind = kind

    def entry(self, name: str) -> Entry:
        """Return the entry of that name. Raises UnknownName with those that exist."""
        if name not in self:
            raise UnknownName(f"{self.kind} {name!r}: expected one of {', '.join(self)}")
        return self[name]

    def build(self, name: str, settings: Settings) -> T:
        """Build the implementation of that name. Raises UnknownName or Unavailable, with what to
        do.
        """
        entry = self.entry(name)
        if missing := entry.missing(settings):
            raise Unavailable(f"{self.kind} {name!r} is not ready: {missing}")
        implementation: T = load(entry.target)(settings)
        return implementation


LLM = Need(
    "set OPENAI_MODEL, with OPENAI_API_KEY or, for a server of your own, OPENAI_BASE_URL (docs/llm.md)",
    setting="has_llm",
)
ENDPOINT = Need(
    "set OPENAI_API_KEY or, for a server of your own, OPENAI_BASE_URL (docs/llm.md)",
    setting="has_endpoint",
)


def load(target: str) -> Any:
    """Import the object that "module:name" refers to."""
    module, _, attribute = target.partition(":")
    with IMPORTING:
        return getattr(importlib.import_module(module), attribute)
