"""Work in a thread of one session's own: it tells how far it is, and ends early with what it has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from attribution.errors import AttributionError


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What is known at one moment; a stop and a broken end keep what is there."""

    running: bool = True
    stopping: bool = False
    broken: str = ""  # it ended early, with the reason


P = TypeVar("P", bound=Progress)


class Worker(Generic[P]):
    """Owns its thread and its stop signal; `work` is given the signal and what to report with."""

    def __init__(self, name: str, first: P, work: Callable[[threading.Event, Callable[..., P]], None]) -> None:
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._progress = first
        threading.Thread(target=self._run, args=(work,), name=name, daemon=True).start()

    def stop(self) -> None:
        """Ask it to end with what it has."""
        self._stop.set()

    @property
    def running(self) -> bool:
        with self._lock:
            return self._progress.running

    def progress(self) -> P:
        with self._lock:
            return replace(self._progress, stopping=self._stop.is_set() and self._progress.running)

    def _told(self, **changes: Any) -> P:
        """Change what is known; without changes, only say it."""
        with self._lock:
            self._progress = replace(self._progress, **changes)
            return self._progress

    def _run(self, work: Callable[[threading.Event, Callable[..., P]], None]) -> None:
        broken = ""
        try:
            work(self._stop, self._told)
        except AttributionError as error:
            broken = str(error)
        except Exception as error:  # a bug must not leave the page waiting for ever
            broken = f"{type(error).__name__}: {error}"
        self._told(running=False, broken=broken)
