"""What a first run would wait for, done before: the page does it while its visitor reads."""

from __future__ import annotations

from contextlib import suppress

from attribution.collections.folder import FolderSearcher
from attribution.collections.search import over_folder
from attribution.embedders import EMBEDDERS
from attribution.errors import StageFailure
from attribution.registry import build
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.text.language import detect
from attribution.text.nlp import parse
from attribution.verifiers import VERIFIERS


def prepare(settings: Settings, store: Store) -> None:
    """Load the models that come along and, once a database, make the library's vectors. Nothing is sent anywhere."""
    parse("A text.")
    detect("A text.")
    if settings.verifier == "embedded":
        build(VERIFIERS, "embedded", settings, "verifier").verify([("A claim.", "A text.")])
    if settings.embedder == "minilm":
        build(EMBEDDERS, "minilm", settings, "embedder").embed(["A text."])
    with suppress(StageFailure):  # a run says so, where the library is among its sources
        over_folder(FolderSearcher(settings), settings, store).nearest("A text.", 1)
