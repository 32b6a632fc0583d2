"""The entries of `settings.sources`: the one place that reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from attribution.settings import COLLECTION, WEB

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
