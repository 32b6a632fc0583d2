"""Models and tables that are loaded once a process, when they are first needed; measured seconds are without that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import wraps
from typing import TypeVar, TypeVarTuple

Ts = TypeVarTuple("Ts")
T = TypeVar("T")
_thread = threading.local()


def load_once(load: Callable[[*Ts], T]) -> Callable[[*Ts], T]:
    """A cache: the first caller loads, others wait for it, and all count the time as loading."""
    loaded: dict[tuple[*Ts], T] = {}
    lock = threading.RLock()

    @wraps(load)
    def get(*key: *Ts) -> T:
        if key in loaded:
            return loaded[key]
        part = getattr(_thread, "loading", False)  # of something that is being loaded: its time counts already
        started, _thread.loading = time.perf_counter(), True
        try:
            with lock:
                if key not in loaded:
                    loaded[key] = load(*key)
                return loaded[key]
        finally:
            _thread.loading = part
            if not part:
                _thread.seconds = loading_seconds() + time.perf_counter() - started

    return get


def loading_seconds() -> float:
    """The seconds that this thread has spent loading."""
    return float(getattr(_thread, "seconds", 0.0))


def working_time() -> float:
    """A clock in seconds that stands still while this thread is loading."""
    return time.perf_counter() - loading_seconds()
