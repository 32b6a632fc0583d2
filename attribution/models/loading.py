"""Models and tables that are loaded once a process, when they are first needed.

Measured seconds are without the time that loading takes.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from math import inf
from typing import TypeVar, TypeVarTuple

from attribution.models.files import with_revision

Ts = TypeVarTuple("Ts")
T = TypeVar("T")
MODELS = 2  # of the hub in memory at once, for each kind of them
_thread = threading.local()


def load_once(load: Callable[[*Ts], T]) -> Callable[[*Ts], T]:
    """Cache results: the first caller loads, others wait, and all count the time as loading."""
    return _cached(load, inf)


def load_latest(load: Callable[[*Ts], T]) -> Callable[[*Ts], T]:
    """As `load_once`, but what is loaded for other arguments takes its place."""
    return _cached(load, 1)


def load_while_used(load: Callable[[str, *Ts], T]) -> Callable[[str, *Ts], T]:
    """Do as `load_once` for models that users name: only those used last stay in memory.

    A folder whose files have changed is loaded again.
    """

    def load_revision(_revision: str, name: str, *others: *Ts) -> T:
        return load(name, *others)

    loaded = _cached(load_revision, MODELS)

    @wraps(load)
    def get(name: str, *others: *Ts) -> T:
        return loaded(with_revision(name), name, *others)

    return get


def _cached(load: Callable[[*Ts], T], most: float) -> Callable[[*Ts], T]:
    lock = threading.RLock()
    loaded: dict[tuple[*Ts], T] = {}  # the one used last is at the end

    @wraps(load)
    def get(*key: *Ts) -> T:
        if most == inf and key in loaded:  # nothing is ever removed
            return loaded[key]
        with _counted(), lock:
            value = loaded[key] if key in loaded else load(*key)
            if most < inf:
                loaded.pop(key, None)
            loaded[key] = value
            while len(loaded) > most:
                del loaded[next(iter(loaded))]
                gc.collect()  # models have cycles
            return value

    return get


@contextmanager
def _counted() -> Iterator[None]:
    """Count the time of a block as loading, unless it is part of something that counts already."""
    is_part = getattr(_thread, "loading", False)
    started = time.perf_counter()
    _thread.loading = True
    try:
        yield
    finally:
        _thread.loading = is_part
        if not is_part:
            _thread.seconds = loading_seconds() + time.perf_counter() - started


def loading_seconds() -> float:
    """Return the seconds that this thread has spent loading."""
    return float(getattr(_thread, "seconds", 0.0))


def working_time() -> float:
    """Return a clock in seconds that stands still while this thread is loading."""
    return time.perf_counter() - loading_seconds()
