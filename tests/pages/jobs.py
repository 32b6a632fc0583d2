"""Waiting for background jobs."""

import time
from typing import Any


def ended(job: Any) -> Any:
    """The last progress of a job."""
    end = time.monotonic() + 20
    while job.progress().running:
        assert time.monotonic() < end, "still running"
        time.sleep(0.01)
    return job.progress()
