"""NLI models and fact checkers of the hub, in torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from attribution.errors import BadInput
from attribution.models import files
from attribution.models.engine import check_stop, load_while_used
from attribution.types import Relation

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

BATCH = 16  # windows
MAX_TOKENS = 512  # tokens that are read at once
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MEANINGS: dict[str, Relation] = {
    "entailment": "entailed",
    "contradiction": "contradicted",
    "neutral": "no_relation",
}
FIRST_TOKENS = [3, 209]  # "0" and "1" in T5's vocabulary: not supported, supported

Columns = Callable[[Mapping[int, str]], dict[Relation, int]]  # labels → columns of the logits
Features = dict[str, list[int]]  # of one window, as the tokenizer gives them


def relation_columns(id2label: Mapping[int, str]) -> dict[Relation, int]:
    """Return the column of each relation in the logits, whose order differs between models.

    Raises:
        BadInput: The model has other labels.
    """
    columns: dict[Relation, int] = {}
    for number, name in id2label.items():
        if name.lower() in MEANINGS:
            columns[MEANINGS[name.lower()]] = int(number)
    if len(id2label) != 3 or len(columns) != 3:
        raise BadInput(
            f"the model's labels are {sorted(id2label.values())}; "
            "expected entailment, neutral and contradiction: choose an NLI model"
        )
    return columns


def two_columns(id2label: Mapping[int, str]) -> dict[Relation, int]:
    """Return the columns of a fact checker: not supported, supported.

    Raises:
        BadInput: The model has another number of labels.
    """
    if len(id2label) != 2:
        raise BadInput(
            f"the model has {len(id2label)} labels; expected 2, not supported and supported: "
            "choose another"
        )
    return {"no_relation": 0, "entailed": 1}


@cache
def on_gpu() -> bool:
    """Return True if there is a GPU that torch can use."""
    import torch

    return bool(torch.cuda.is_available())


@dataclass(frozen=True)
class Loaded:
    """A model that is ready.

    Attributes:
        limit: Tokens of evidence and claim together.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    columns: dict[Relation, int]
    limit: int

    def read(self, windows: Sequence[Features]) -> list[list[float]]:
        """Return a row of logits for each window, in order."""
        import torch

        rows: dict[int, list[float]] = {}
        by_length = sorted(range(len(windows)), key=lambda i: len(windows[i]["input_ids"]))
        for start in range(0, len(windows), BATCH):
            check_stop()
            part = by_length[start : start + BATCH]
            batch = self.tokenizer.pad([windows[i] for i in part], return_tensors="pt")
            with torch.inference_mode():
                logits = _logits(self.model, batch.to(self.model.device))
            rows.update(zip(part, logits.float().cpu().tolist(), strict=True))
        return [rows[i] for i in range(len(windows))]


@load_while_used
def load(name: str, columns: Columns) -> Loaded:
    """Load a model of the hub or a folder.

    Raises:
        ModelUnavailable: It cannot be loaded.
        BadInput: It has other labels.
    """
    import torch
    from transformers import (
        AutoConfig,
        AutoModelForSeq2SeqLM,
        AutoModelForSequenceClassification,
        AutoTokenizer,
    )

    with files.loading(name, "verifier_model", "embedded-small"):
        config = AutoConfig.from_pretrained(name)
        kind = AutoModelForSequenceClassification
        if config.is_encoder_decoder:
            kind = AutoModelForSeq2SeqLM
        dtype = torch.bfloat16 if on_gpu() else torch.float32
        model = kind.from_pretrained(name, dtype=dtype)
        tokenizer = AutoTokenizer.from_pretrained(name)
    by_relation = columns(config.id2label)  # T5, which has no labels, declares two
    positions = getattr(config, "max_position_embeddings", MAX_TOKENS)
    limit = int(min(tokenizer.model_max_length, positions, MAX_TOKENS))
    return Loaded(model.to("cuda" if on_gpu() else "cpu").eval(), tokenizer, by_relation, limit)


def _logits(model: PreTrainedModel, batch: Mapping[str, Any]) -> Tensor:
    """Return the logits of each window; a sequence-to-sequence model answers by its first token."""
    import torch

    if not model.config.is_encoder_decoder:
        logits: Tensor = model(**batch).logits
        return logits
    start = torch.zeros((len(batch["input_ids"]), 1), dtype=torch.long, device=model.device)
    first: Tensor = model(**batch, decoder_input_ids=start).logits[:, 0, FIRST_TOKENS]
    return first
