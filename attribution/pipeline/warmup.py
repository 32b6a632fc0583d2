"""Load ahead what the first run would wait for: the page does it while its visitor reads."""

from __future__ import annotations

import gc
from contextlib import suppress
from importlib import import_module

from attribution.embedders import EMBEDDERS
from attribution.embedders.static import embed_statically
from attribution.errors import StageFailure
from attribution.fetching.http import tls_context
from attribution.library.folder import FolderSearcher
from attribution.pipeline.claims import annotate
from attribution.pipeline.estimate import loaded, measure_pace
from attribution.segmenters.english.tree import lemma_of
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.sentences import detect
from attribution.types import Claim
from attribution.verifiers import VERIFIERS


def warm_up(settings: Settings, store: Store) -> None:
    """Load the models that come with the project and embed the library, once per database.

    Nothing is sent anywhere. To be called once per process.
    """
    try:
        _load(settings, store)
    finally:
        loaded.set()  # what could not be loaded, a run reports


def _load(settings: Settings, store: Store) -> None:
    load_rules()
    if VERIFIERS[settings.verifier].bundled and not VERIFIERS[settings.verifier].missing(settings):
        verifier = VERIFIERS.build(settings.verifier, settings)
        verifier.verify([("A claim.", "A text.")])
        measure_pace(verifier)
    if EMBEDDERS[settings.embedder].bundled:
        embed_statically(["A text."])
        EMBEDDERS.build(settings.embedder, settings).embed(["A text."])
    with suppress(StageFailure):  # a run with the library among its sources reports it
        FolderSearcher(settings).search("A text.", 1)
    keep_loaded()


def keep_loaded() -> None:
    """Leave what is loaded out of garbage collection, which would stop every thread for 0.13 s."""
    gc.collect()
    gc.freeze()


def load_rules() -> None:
    """Load what every run needs, whatever its models: rules, index and certificates."""
    import_module("faiss")
    tls_context()
    detect("A text.")
    text = "The bridge was opened in 1932."
    claim = Claim(id="", text=text, spans=((0, len(text)),))
    annotate("", text, [claim], [], None)
    lemma_of("were", "VERB")
