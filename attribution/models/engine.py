"""How networks run on CPUs: ONNX Runtime in int8, one text at a time on each core.

Weights are int8 with a scale for each column. Activations are quantised while the model runs, each
token by its own largest value, so that no text's result depends on others. Batches would gain
nothing: a token costs as much in a text of 64 tokens as in one of 256 (docs/measurements.md).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from attribution.errors import Stopped, Unavailable
from attribution.types import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

# fused with the sum before it, a layer norm takes three times as long
SLOW = ("SkipLayerNormFusion",)


class OnnxModel:
    """A network and its tokenizer, for one text or pair at a time on the calling thread."""

    def __init__(
        self,
        model: Path,
        tokenizer: Path | None = None,
        weights: Mapping[str, NDArray[np.generic]] | None = None,
        unfused: Sequence[str] = (),
    ) -> None:
        """Open a graph.

        Args:
            model: The path of the graph.
            tokenizer: Its tokenizer; by default tokenizer.json beside the graph.
            weights: Arrays by name, for a graph that holds none.
            unfused: Fusions of the runtime that are left out.

        Raises:
            Unavailable: One of the files cannot be read.
        """
        try:
            self._session = _open_session(model, weights or {}, unfused)
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


def _open_session(
    model: Path, weights: Mapping[str, NDArray[np.generic]], unfused: Sequence[str]
) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # a long passage would keep its memory
    if weights:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
        options.add_external_initializers(list(weights), values)
    return onnxruntime.InferenceSession(
        str(model), options, providers=["CPUExecutionProvider"], disabled_optimizers=list(unfused)
    )


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

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
