"""Tables of implementations, and the sources that settings name.

A table has names → "module:Class", imported only when built.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Generic, Literal, Protocol, TypeVar

from attribution.errors import Unavailable, UnknownName
from attribution.settings import COLLECTION, WEB, Settings, secret

T = TypeVar("T")
# Packages with circular imports, such as spaCy, break if two threads import them
IMPORTING = threading.RLock()


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
    """A row of a table: an implementation, and what a user chooses it by.

    Attributes:
        target: "module:Class", called with the settings.
        note: What a user should know before choosing it.
        model_setting: The setting that names its model.
        models: Models of the hub for it, each with a note; the default first.
        english: Its own model or rules read English only.
        bundled: Its model comes with the project, and is loaded ahead of the first run.
        download: "module:function" that downloads its model: settings → path.
    """

    target: str
    label: str
    note: str = ""
    needs: tuple[Need, ...] = ()
    model_setting: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    english: bool = False
    bundled: bool = False
    download: str = ""

    def missing(self, settings: Settings | None = None) -> str:
        """Return the steps still needed; empty if it is ready.

        Args:
            settings: By default the environment's.
        """
        settings = settings or Settings.from_environment()
        return "; ".join(need.step for need in self.needs if not need.met(settings))


class Table(dict[str, Entry], Generic[T]):
    """Entries of one kind by name, whose implementations follow the protocol T."""

    def __init__(self, kind: str, entries: Mapping[str, Entry]) -> None:
        super().__init__(entries)
        self.kind = kind

    def entry(self, name: str) -> Entry:
        """Return the entry of a name.

        Raises:
            UnknownName: There is no such entry; the message lists those that exist.
        """
        if name not in self:
            raise UnknownName(f"{self.kind} {name!r}: expected one of {', '.join(self)}")
        return self[name]

    def build(self, name: str, settings: Settings) -> T:
        """Build the implementation of a name.

        Raises:
            UnknownName: There is no such entry.
            Unavailable: Something is missing; the message says what to do.
        """
        entry = self.entry(name)
        missing = entry.missing(settings)
        if missing:
            raise Unavailable(f"{self.kind} {name!r} is not ready: {missing}")
        implementation: T = load(entry.target)(settings)
        return implementation

    def chosen(self, settings: Settings) -> T:
        """Build the implementation that the setting of this kind names."""
        return self.build(getattr(settings, self.kind), settings)


LLM = Need(
    "set OPENAI_MODEL, with OPENAI_API_KEY or, for your own server, OPENAI_BASE_URL (docs/llm.md)",
    setting="has_llm",
)
ENDPOINT = Need(
    "set OPENAI_API_KEY or, for your own server, OPENAI_BASE_URL (docs/llm.md)",
    setting="endpoint",
)


def load(target: str) -> Any:
    """Import the object that "module:name" refers to."""
    module, _, attribute = target.partition(":")
    with IMPORTING:
        return attrgetter(attribute)(importlib.import_module(module))


# --- the entries of `settings.sources`: this is the one place that reads them ---

DOCUMENT = "document:"  # prefix of the address of a page that was read from a file
INSTANCE = "searxng:"  # prefix of a source that is an instance: searxng:https://…
SourceKind = Literal["library", "documents", "engine", "instance", "collection", "address", "path"]
_NAME = re.compile(r"\w+")


@dataclass(frozen=True)
class Source:
    """One source, read from its text alone; whether it exists is checked when it is opened."""

    kind: SourceKind
    name: str = ""  # of an engine or collection, the URL of a SearXNG instance or page, or a path

    @classmethod
    def of(cls, text: str) -> Source:
        """Return the source that a text names; a single word that is nothing else can only be an
        engine.
        """
        if text in ("library", "documents"):
            return cls("library" if text == "library" else "documents")
        if text.startswith(INSTANCE):
            return cls("instance", text.removeprefix(INSTANCE))
        if text.startswith(COLLECTION):
            return cls("collection", text.removeprefix(COLLECTION))
        if "://" in text:
            return cls("address", text)
        if _NAME.fullmatch(text):
            return cls("engine", WEB if text == "web" else text)
        return cls("path", text)

    @property
    def searches_web(self) -> bool:
        """True for a web search engine or instance."""
        return self.kind in ("engine", "instance")

    @property
    def is_local(self) -> bool:
        """True if it is searched on this machine, without budget, limits and fallback."""
        return self.kind in ("library", "documents", "collection")


class Versioned(Protocol):
    """An embedder or a verifier. One that asks an endpoint also has `key`."""

    version: str


def key_of(model: Versioned) -> str:
    """Return all that a model's results depend on beside the texts.

    That is its version, or its `key`, which also says where and with what they are made.
    """
    return str(getattr(model, "key", model.version))
