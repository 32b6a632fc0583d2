"""NLI models and fact checkers of the hub: in torch, or in int8 on ONNX Runtime, three to four
times faster on CPUs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attribution.errors import BadInput, Unavailable
from attribution.models import files
from attribution.models.engine import check_stop, in_threads, open_session
from attribution.models.loading import load_while_used
from attribution.models.merge import LARGEST
from attribution.settings import models_folder
from attribution.types import Relation, content_id

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

BATCH = 16  # windows
MAX_TOKENS = 512  # tokens that are read at once
DOWNLOADING = 0.8  # share of the progress of `make`
GRAPH = "model.onnx"  # of the int8 form
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MEANINGS: dict[str, Relation] = {
    "entailment": "entailed",
    "entailed": "entailed",
    "contradiction": "contradicted",
    "contradicted": "contradicted",
    "neutral": "no_relation",
}


Columns = Callable[
    [Mapping[int, str]], dict[Relation, int]
]  # labels → the column of each relation in the logits
FIRST_TOKENS = [3, 209]  # "0" and "1" in T5's vocabulary: not supported, supported


def relation_columns(id2label: Mapping[int, str]) -> dict[Relation, int]:
    """The column of each relation in the logits, whose order differs between models. BadInput for
    other labels.
    """
    columns = {
        MEANINGS[name.lower()]: int(i) for i, name in id2label.items() if name.lower() in MEANINGS
    }
    if len(id2label) != 3 or len(columns) != 3:
        raise BadInput(
            f"the model's labels are {sorted(id2label.values())}; "
            "expected entailment, neutral and contradiction: choose an NLI model"
        )
    return columns


def two_columns(id2label: Mapping[int, str]) -> dict[Relation, int]:
    """The columns of a fact checker: not supported, supported. BadInput for other numbers of
    labels.
    """
    if len(id2label) != 2:
        raise BadInput(
            f"the model has {len(id2label)} labels; expected 2, not supported and supported: choose another"
        )
    return {"no_relation": 0, "entailed": 1}


def make(
    model: str,
    progress: files.Progress = lambda share, what: None,
    columns: Columns = relation_columns,
) -> Path:
    """Download a model of the hub unless it is there, and make its int8 form where there is no GPU.

    Returns the folder of that form, or of the hub's cache. Raises Unavailable where the hub cannot
    be reached,
    BadInput for a model that is none for NLI.
    """
    if files.weights(model) is None and not Path(model).is_dir():
        files.download(model, lambda share, what: progress(DOWNLOADING * share, what))
    if not makes_int8(model):
        return files.cache_folder()
    progress(DOWNLOADING, "making the int8 form for this machine's CPU")
    folder = _make_int8(model, columns)
    progress(1.0, "done")
    return folder


def int8_folder(model: str) -> Path:
    """Return the folder for the int8 form of a model, from the hub or a folder."""
    return models_folder() / "int8" / content_id(model)


def _source(weights: Path) -> str:
    """Identify the weights, not only by name: in the hub's cache, the file is named by its hash."""
    return f"{weights.resolve()} {weights.stat().st_size} {LARGEST}"


def _make_int8(model: str, columns: Columns) -> Path:
    """Return the folder of the int8 form, made unless it is there and whole. Nothing is downloaded
    for it.
    """
    weights = files.weights(model)
    if weights is None:
        raise Unavailable(
            f"{model} has none of {', '.join(files.WEIGHTS)}: choose a model with weights for PyTorch"
        )

    def make(folder: Path) -> None:
        from attribution.models.export import export  # torch takes seconds to import

        names = [name for name in _tokenizer(model).model_input_names if name in INPUTS]
        export(_torch_model(model, columns)[0], names, folder / GRAPH)

    try:
        return files.made(int8_folder(model), _source(weights), make)
    except RuntimeError as error:  # torch's exporter has no other
        message = f"{model} has no int8 form on this machine; it works as it is, three to four times slower"
        raise Unavailable(message, error) from error


@cache
def on_gpu() -> bool:
    """Return True if there is a GPU that torch can use."""
    import torch

    return bool(torch.cuda.is_available())


def makes_int8(model: str) -> bool:
    """Return True if the int8 form of a model is of use here: not on a GPU, and T5 has none."""
    return not on_gpu() and not _config(model).is_encoder_decoder


def has_int8(model: str) -> bool:
    """Return True if `make` made the int8 form of the weights that are there."""
    weights = files.weights(model)
    return weights is not None and files.source_of(int8_folder(model)) == _source(weights)


def _loading(name: str) -> AbstractContextManager[None]:
    return files.loading(name, "verifier_model", "embedded-small")


def _tokenizer(name: str) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    with _loading(name):
        return AutoTokenizer.from_pretrained(name)


def _config(name: str) -> PretrainedConfig:
    from transformers import AutoConfig

    with _loading(name):
        return AutoConfig.from_pretrained(name)


def model_type(name: str) -> str:
    """Return the architecture of a model, as its configuration names it."""
    return str(_config(name).model_type)


def _torch_model(name: str, columns: Columns) -> tuple[PreTrainedModel, dict[Relation, int]]:
    """The model in torch, and the column of each relation in its logits."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoModelForSequenceClassification

    files.check_size(name)
    with _loading(name):
        dtype = torch.bfloat16 if on_gpu() else torch.float32
        own = (
            AutoModelForSeq2SeqLM
            if _config(name).is_encoder_decoder
            else AutoModelForSequenceClassification
        )
        model = own.from_pretrained(name, dtype=dtype)
    found = columns(model.config.id2label)  # T5, which has no labels, declares two
    return model.to("cuda" if on_gpu() else "cpu").eval(), found


Features = dict[str, list[int]]  # of one window, as the tokenizer gives them


@dataclass(frozen=True)
class Loaded:
    """A model that is ready: `read` gives a row of logits for each window, in order."""

    tokenizer: PreTrainedTokenizerBase
    columns: dict[Relation, int]
    limit: int  # tokens of evidence and claim together
    read: Callable[[Sequence[Features]], list[list[float]]]


@load_while_used
def load(name: str, in_int8: bool, columns: Columns) -> Loaded:
    """Raises ModelUnavailable where it cannot be loaded, BadInput for one with other labels."""
    return _load_int8(name, columns) if in_int8 else _load_torch(name, columns)


def _load_torch(name: str, columns: Columns) -> Loaded:
    import torch

    tokenizer = _tokenizer(name)
    model, found = _torch_model(name, columns)

    def read(windows: Sequence[Features]) -> list[list[float]]:
        rows: list[list[float]] = [[]] * len(windows)
        by_length = sorted(range(len(windows)), key=lambda i: len(windows[i]["input_ids"]))
        for start in range(0, len(windows), BATCH):
            check_stop()
            part = by_length[start : start + BATCH]
            batch = tokenizer.pad([windows[i] for i in part], return_tensors="pt").to(model.device)
            with torch.inference_mode():
                logits = _logits(model, batch).float().cpu().tolist()
            for i, row in zip(part, logits, strict=True):
                rows[i] = row
        return rows

    return Loaded(tokenizer, found, _limit(tokenizer, model.config), read)


def _load_int8(name: str, columns: Columns) -> Loaded:
    import numpy as np

    tokenizer, config = _tokenizer(name), _config(name)
    session = open_session(_make_int8(name, columns) / GRAPH)
    inputs = [one.name for one in session.get_inputs()]

    def one(window: Features) -> list[float]:
        values = {name: np.array([window[name]], dtype=np.int64) for name in inputs}
        check_stop()
        row: list[float] = session.run(None, values)[0][0].tolist()
        return row

    return Loaded(
        tokenizer,
        columns(config.id2label),
        _limit(tokenizer, config),
        lambda windows: in_threads(one, windows),
    )


def _logits(model: PreTrainedModel, batch: Mapping[str, Any]) -> Tensor:
    """The logits of each window; a sequence-to-sequence model answers with its first token."""
    import torch

    if not model.config.is_encoder_decoder:
        logits: Tensor = model(**batch).logits
        return logits
    start = torch.zeros((len(batch["input_ids"]), 1), dtype=torch.long, device=model.device)
    first: Tensor = model(**batch, decoder_input_ids=start).logits[:, 0, FIRST_TOKENS]
    return first


def _limit(tokenizer: PreTrainedTokenizerBase, config: PretrainedConfig) -> int:
    return int(
        min(
            tokenizer.model_max_length,
            getattr(config, "max_position_embeddings", MAX_TOKENS),
            MAX_TOKENS,
        )
    )
