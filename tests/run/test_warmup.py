"""What is loaded ahead of the first run."""

from __future__ import annotations

import gc
from pathlib import Path

from attribution.run.warmup import keep_loaded


def test_what_is_loaded_is_not_looked_through_again(warm_database: Path) -> None:
    assert gc.get_freeze_count() > 100_000  # the models and libraries that `warm_up` has loaded for this process
    before = gc.get_count()[2]
    keep_loaded()
    assert gc.get_count()[2] <= before and len(gc.get_objects()) < gc.get_freeze_count()
