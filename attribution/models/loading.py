"""Models and tables that are loaded once a process, when they are first needed; measured seconds
are without that.
"""

from __future__ import annotations

import gc
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Protocol, TypeVar, TypeVarTuple

Ts = TypeVarTuple("Ts")
T = TypeVar("T")
MODELS, IDLE = (
    4,
    900.0,
)  # hub models in memory at once, and seconds after which one that nobody uses is released
_MISSING = object()
_thread = threading.local()


class _Loaded(Protocol):
    def get(self, key: Hashable, default: object, /) -> Any: ...

    def __setitem__(self, key: Hashable, value: object, /) -> None: ...


class Recent:
    """Values by key: at most `most` of them, those used last, each until it has not been used for
    `idle` seconds.
    """

    def __init__(self, most: int, idle: float) -> None:
        self._most, self._idle = most, idle
        self._values: OrderedDict[Hashable, tuple[object, float]] = (
            OrderedDict()
        )  # the one used last is at the end
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def get(self, key: Hashable, default: object, /) -> Any:
        """The value of a key, which is thereby used."""
        with self._lock:
            if key not in self._values:
                return default
            value, _ = self._values.pop(key)
            self._values[key] = (value, time.monotonic())
            return value

    def __setitem__(self, key: Hashable, value: object, /) -> None:
        with self._lock:
            self._values[key] = (value, time.monotonic())
        self._release()

    def __len__(self) -> int:
        return len(self._values)

    def _release(self) -> None:
        """Let go of what is too much or idle, and look again when the next may be idle."""
        with self._lock:
            before = len(self._values)
            while self._values:
                first, (_, used) = next(iter(self._values.items()))
                left = used + self._idle - time.monotonic()
                if len(self._values) <= self._most and left > 0:
                    break
                del self._values[first]
            released = len(self._values) < before
            if self._timer:
                self._timer.cancel()
            self._timer = threading.Timer(left, self._release) if self._values else None
            if self._timer:
                self._timer.daemon = True
                self._timer.start()
        if released:
            gc.collect()  # models have cycles


_hub_models = Recent(MODELS, IDLE)


def load_once(load: Callable[[*Ts], T]) -> Callable[[*Ts], T]:
    """A cache: the first caller loads, others wait for it, and all count the time as loading."""
    return _cached(load, {})


def load_while_used(load: Callable[[*Ts], T]) -> Callable[[*Ts], T]:
    """As `load_once`, for models that users name: few stay in memory, and none that nobody uses.
    Ask at each use.
    """
    return _cached(load, _hub_models)


def _cached(load: Callable[[*Ts], T], loaded: _Loaded) -> Callable[[*Ts], T]:
    lock = threading.RLock()

    @wraps(load)
    def get(*key: *Ts) -> T:
        value = loaded.get((load, key), _MISSING)
        if value is not _MISSING:
            return value  # type: ignore[no-any-return]
        part = getattr(
            _thread, "loading", False
        )  # of something that is being loaded: its time counts already
        started, _thread.loading = time.perf_counter(), True
        try:
            with lock:
                value = loaded.get((load, key), _MISSING)
                if value is _MISSING:
                    loaded[load, key] = value = load(*key)
                return value  # type: ignore[no-any-return]
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
