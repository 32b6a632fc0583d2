"""Tables of implementations: name → "module:Class", imported only when built."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attribution.errors import Unavailable, UnknownName
from attribution.settings import Settings


@dataclass(frozen=True)
class Need:
    """Something an implementation cannot do without, and the step that provides it."""

    step: str
    package: str = ""  # an importable module
    variable: str = ""  # an environment variable that must be set

    def met(self) -> bool:
        if self.package and importlib.util.find_spec(self.package) is None:
            return False
        return not self.variable or bool(os.environ.get(self.variable))


@dataclass(frozen=True)
class Entry:
    """One line of a table. `note` says what a user should know before choosing it."""

    target: str
    label: str
    note: str = ""
    needs: tuple[Need, ...] = ()

    def missing(self) -> str:
        """What stands in the way, as steps; empty where it is ready."""
        return "; ".join(need.step for need in self.needs if not need.met())


Table = Mapping[str, Entry]


def build(table: Table, name: str, settings: Settings, kind: str) -> Any:
    """The implementation of that name; UnknownName or Unavailable say what to do instead."""
    if name not in table:
        raise UnknownName(f"{kind} {name!r}: expected one of {', '.join(table)}")
    entry = table[name]
    if missing := entry.missing():
        raise Unavailable(f"{kind} {name!r} is not ready: {missing}")
    module, _, attribute = entry.target.partition(":")
    return getattr(importlib.import_module(module), attribute)(settings)
