"""How models are loaded, once a process, and how networks run on CPUs, one text on each core.

ONNX Runtime runs them in int8. Weights have a scale for each column. Activations are quantised
while the model runs, each token by its own largest value, so that no text's result depends on
others. Batches would gain nothing: a token costs as much in a text of 64 tokens as in one of 256
(docs/measurements.md).
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from attribution.errors import Stopped, Unavailable
from attribution.models.files import with_revision
from attribution.types import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

# Fused with the sum before it, a layer norm takes up to three times as long.
SLOW = ["SkipLayerNormFusion"]
Ts = TypeVarTuple("Ts")
T = TypeVar("T")
R = TypeVar("R")


class OnnxModel:
    """A network and its tokenizer, for one text or pair at a time on the calling thread."""

    def __init__(
        self,
        model: Path,
        tokenizer: Path | None = None,
        weights: Mapping[str, NDArray[np.generic]] | None = None,
    ) -> None:
        """Open a graph.

        Args:
            model: The path of the graph.
            tokenizer: Its tokenizer; by default tokenizer.json beside the graph.
            weights: Arrays by name, for a graph that holds none.

        Raises:
            Unavailable: One of the files cannot be read.
        """
        try:
            import onnxruntime as ort

            options = ort.SessionOptions()
            options.intra_op_num_threads = 1
            if weights:
                values = [ort.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
                options.add_external_initializers(list(weights), values)
            providers = ["CPUExecutionProvider"]
            self._session: Any = ort.InferenceSession(
                str(model), options, providers=providers, disabled_optimizers=SLOW
            )
            self._tokenizer = load_tokenizer(tokenizer or model.parent / "tokenizer.json")
        except Exception as error:  # both packages have errors of their own
            raise Unavailable(
                f"the model {model} cannot be loaded, though its files are whole: install "
                "onnxruntime and tokenizers again with "
                "`pip install --force-reinstall -r requirements.txt`",
                error,
            ) from error

    def run(self, feed: Mapping[str, NDArray[np.generic]]) -> list[Any]:
        """Run the network. Raises Stopped if the work is to be stopped."""
        check_stop()
        outputs: list[Any] = self._session.run(None, feed)
        return outputs

    def encode(self, text: str) -> tuple[list[int], list[Span]]:
        """Return token ids without special tokens, and the character span of each."""
        encodable = text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be encoded
        encoding = self._tokenizer.encode(encodable, add_special_tokens=False)
        return encoding.ids, encoding.offsets


def load_tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer of a file, without padding or a limit."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


# --- stopping ---

_STOP: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


@contextmanager
def stoppable(stop: threading.Event | None) -> Iterator[None]:
    """Let models raise Stopped before the next text once `stop` is set.

    It holds in this thread and in its `in_threads`.
    """
    token = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(token)


def current_stop() -> threading.Event | None:
    """Return the stop signal of the `stoppable` block that this thread is in."""
    return _STOP.get()


def check_stop() -> None:
    """Raise Stopped if that signal is set."""
    stop = current_stop()
    if stop and stop.is_set():
        raise Stopped("the work was stopped before the model had read everything")


# --- one stream a core ---


def cores() -> int:
    """Return the number of cores that this process may use."""
    allotted = os.environ.get("OMP_NUM_THREADS", "")  # Ray sets it in its workers
    available = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    return max(1, min(int(allotted), available)) if allotted.isdecimal() else available


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the process's one pool: however many runs there are, a core reads one text."""
    return ThreadPoolExecutor(cores(), thread_name_prefix="model")


def in_threads(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return the results in order. What is computed for an item must not depend on the others."""
    if len(items) < 2 or cores() < 2:
        return [function(item) for item in items]
    stop = current_stop()

    def stoppably(item: T) -> R:
        with stoppable(stop):
            return function(item)

    return list(_pool().map(stoppably, items))


# --- loading ---

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
