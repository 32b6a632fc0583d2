"""Loading ahead of the first run."""

import gc
from pathlib import Path


def test_what_is_loaded_is_left_out_of_garbage_collection(warm_database: Path) -> None:
    assert (
        gc.get_freeze_count() > 100_000
    )  # objects of the models and libraries that `warm_up` loaded here
