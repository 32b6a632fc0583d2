"""Models loaded while a visitor reads."""

from __future__ import annotations

from functools import cache

from attribution.settings import Settings
from pages.ui import background
from pages.ui.slot import unowned_store


@cache
def preload() -> background.Job[background.Result[None]]:
    """Load what a first run would wait for, once per process, while a visitor reads."""

    def load_models() -> None:
        from attribution.pipeline.warmup import warm_up

        warm_up(Settings.from_environment(), unowned_store())

    return background.compute("models", load_models)
