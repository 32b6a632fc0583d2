"""Loads ahead of the first run what it would otherwise wait for: the page does it while its visitor reads."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

from attribution.collections.folder import FolderSearcher
from attribution.collections.search import over_folder
from attribution.embedders import EMBEDDERS, Embedder
from attribution.errors import StageFailure
from attribution.pipeline.claims import annotate
from attribution.registry import build
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.text.language import detect
from attribution.types import Claim
from attribution.verifiers import VERIFIERS
from attribution.web.network import tls_context


def load_models(settings: Settings) -> None:
    """Load the rules, the parser, the verifier and the embedder of the settings, so that no measurement includes it.

    Raises Unavailable for a model that cannot be loaded.
    """
    load_rules()
    build(VERIFIERS, settings.verifier, settings, "verifier").verify([("A claim.", "A text.")])
    _load_embedder(settings)


def warm_up(settings: Settings, store: Store) -> None:
    """Load the models that come with the project and embed the library, once per database. Nothing is sent anywhere."""
    load_rules()
    if VERIFIERS[settings.verifier].bundled and not VERIFIERS[settings.verifier].missing(settings):
        build(VERIFIERS, settings.verifier, settings, "verifier").verify([("A claim.", "A text.")])
    if EMBEDDERS[settings.embedder].bundled:
        _load_embedder(settings)
    with suppress(StageFailure):  # a run with the library among its sources reports it
        over_folder(FolderSearcher(settings), settings, store).nearest("A text.", 1)


def _load_embedder(settings: Settings) -> None:
    embedder: Embedder = build(EMBEDDERS, settings.embedder, settings, "embedder")
    for one in (embedder, embedder.exact):
        if one is not None:
            one.embed(["A text."])


def load_rules() -> None:
    """What every run needs whatever its models: the rules for claims, the index's library, trusted certificates."""
    import_module("faiss")
    tls_context()
    detect("A text.")
    text = "The bridge was opened in 1932."
    claim = Claim(id="", text=text, spans=((0, len(text)),))
    annotate("", text, [claim], [], None)
