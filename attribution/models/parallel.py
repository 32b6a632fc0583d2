"""Small independent pieces of work on all cores, for models that read one text at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    # One for the process: however many runs there are, no more texts are read at once than there are cores.
    return ThreadPoolExecutor(cores(), thread_name_prefix="model")


def in_threads(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The results in order. What is computed for an item must not depend on the others."""
    if len(items) < 2 or cores() < 2:
        return [function(item) for item in items]
    return list(_pool().map(function, items))
