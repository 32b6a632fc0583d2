"""The int8 forms of text classifiers of the hub, for CPUs: made once, kept, and run by ONNX Runtime."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.models.files import digest
from attribution.models.merge import LARGEST
from attribution.settings import models_folder
from attribution.types import content_id

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from torch.nn import Module

GRAPH, DONE = "model.onnx", "model.json"


def folder(model: str) -> Path:
    """Return the folder for the int8 form of a model, from the hub or a folder."""
    return models_folder() / "int8" / content_id(model)


def is_made(model: str, weights: Path) -> bool:
    """Return True if the int8 form was made from these weights and its file has the recorded size."""
    done = _done(folder(model))
    return done.get("weights") == _state(weights) and done.get("size") == _size(folder(model) / GRAPH)


def session(model: str) -> InferenceSession:
    """Return the model, ready to run. Raises ValueError if its file is damaged."""
    path = folder(model) / GRAPH
    if digest(path) != _done(path.parent).get("sha256"):
        raise ValueError(f"{path} is damaged")
    return open_session(path)


def open_session(path: Path) -> InferenceSession:
    """Open an exported file, to run on one thread at a time."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # a long passage would keep its memory
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def make(model: str, weights: Path, load: Callable[[], Module], inputs: Sequence[str]) -> None:
    """Export the torch model that `load` returns, with logits as its output, unless it was made from these weights.

    `inputs` are the names of its integer inputs, each of shape (pairs, tokens). After an interrupted export, `is_made`
    returns False.
    """
    from attribution.models.export import export  # torch takes seconds to import

    target = folder(model)
    if is_made(model, weights):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        graph = made / GRAPH
        export(load(), inputs, graph)
        state = {"model": model, "weights": _state(weights), "size": _size(graph), "sha256": digest(graph)}
        (made / DONE).write_text(json.dumps(state) + "\n", encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        made.replace(target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _done(folder: Path) -> dict[str, object]:
    try:
        done = json.loads((folder / DONE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return done if isinstance(done, dict) else {}


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else -1


def _state(weights: Path) -> str:
    """Identify the weights, not only by name: in the hub's cache, the file is named by its hash."""
    return f"{weights.resolve()} {_size(weights)} {LARGEST}"
