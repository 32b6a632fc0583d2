"""The one way in which networks run on CPUs: ONNX Runtime in int8, a text a thread, and a signal
that stops them.

Weights are int8 with a scale for each column. Activations are quantised while the model runs, each
token by its own
largest value: with one scale for a whole batch, as in ONNX Runtime's dynamic quantisation, a pair's
probabilities would
depend on its neighbours.
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

SLOW = (
    "SkipLayerNormFusion",
)  # fused with the sum before it, a layer norm takes three times as long


def open_session(
    model: Path,
    weights: Mapping[str, NDArray[np.generic]] | None = None,
    unfused: Sequence[str] = (),
    saturates: bool = False,
) -> Any:
    """Open a graph, to run on one thread at a time; the arguments are those of `OnnxModel`."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # a long passage would keep its memory
    if saturates:
        options.add_session_config_entry(
            "session.x64quantprecision", "1"
        )  # no effect where VNNI is
    if weights:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
        options.add_external_initializers(list(weights), values)
    return onnxruntime.InferenceSession(
        str(model), options, providers=["CPUExecutionProvider"], disabled_optimizers=list(unfused)
    )


class OnnxModel:
    """One text or pair at a time, on one thread: others are read in parallel, and none depends on
    the others.
    """

    def __init__(
        self,
        model: Path,
        tokenizer: Path | None = None,
        weights: Mapping[str, NDArray[np.generic]] | None = None,
        unfused: Sequence[str] = (),
        saturates: bool = False,
    ) -> None:
        """`model` is the path of the graph; tokenizer.json stands beside it unless another is
        named.

        `weights` are arrays by name for a graph that holds none, `unfused` the runtime's fusions
        that are left out.
        `saturates` says that its int8 weights use their whole range: sums of two products then
        overflow on x86 CPUs
        without VNNI, unless the runtime multiplies them more slowly.
        """
        try:
            self._session = open_session(model, weights, unfused, saturates)
            self._tokenizer = load_tokenizer(tokenizer or model.parent / "tokenizer.json")
        except (
            Exception
        ) as error:  # both packages have errors of their own for a file that they cannot read
            raise Unavailable(
                f"the model {model} cannot be loaded, though its files are whole: install onnxruntime and tokenizers "
                "again with `pip install --force-reinstall -r requirements.txt`",
                error,
            ) from error

    def run(self, feed: Mapping[str, NDArray[np.generic]]) -> list[Any]:
        """Run the network. Raises Stopped if the work is to be stopped."""
        check_stop()
        found: list[Any] = self._session.run(None, feed)
        return found

    def encode(self, text: str) -> tuple[list[int], list[Span]]:
        """Token ids without special tokens, and the character span of each."""
        # a lone surrogate cannot be encoded
        encoding = self._tokenizer.encode(
            text.encode("utf-8", "replace").decode(), add_special_tokens=False
        )
        return encoding.ids, encoding.offsets


def load_tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer of a file, without padding or a limit."""
    import tokenizers

    found = tokenizers.Tokenizer.from_file(str(path))
    found.no_padding()
    found.no_truncation()
    return found


_STOP: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


@contextmanager
def stoppable(stop: threading.Event | None) -> Iterator[None]:
    """Let models raise Stopped before the next text once `stop` is set, in this thread and its
    `in_threads`.
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
    if (stop := current_stop()) and stop.is_set():
        raise Stopped("the work was stopped before the model had read everything")


T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    # One for the process: however many runs there are, no more texts are read at once than there
    # are cores.
    return ThreadPoolExecutor(cores(), thread_name_prefix="model")


def in_threads(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The results in order. What is computed for an item must not depend on the others."""
    if len(items) < 2 or cores() < 2:
        return [function(item) for item in items]
    stop = current_stop()

    def one(item: T) -> R:
        with stoppable(stop):
            return function(item)

    return list(_pool().map(one, items))
