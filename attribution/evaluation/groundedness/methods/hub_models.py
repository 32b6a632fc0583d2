"""Models of the Hugging Face hub that a run uses only where they were downloaded: no network, no code from the hub."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attribution.errors import Unavailable
from attribution.models.hub import hide_loading_bar
from attribution.models.loading import load_once

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
TOKENIZER = ("tokenizer.json", "vocab.json", "spiece.model")
BATCH = 16


@dataclass(frozen=True)
class HubModel:
    """A model by its name on the hub, or a folder with its files."""

    name: str
    revision: str = "main"
    files: tuple[str, ...] = WEIGHTS  # one of them says that it was downloaded

    def is_downloaded(self) -> bool:
        """Are its files on this machine?"""
        return any(self.path(file) is not None for file in self.files)

    def path(self, file: str) -> Path | None:
        """One of its files; None where it is not on this machine."""
        if Path(self.name).is_dir():
            found = Path(self.name, file)
            return found if found.is_file() else None
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(self.name, file, revision=self.revision)
        return Path(cached) if isinstance(cached, str) else None

    def required(self, file: str) -> Path:
        """One of its files; Unavailable, with what to do, where it is missing."""
        if path := self.path(file):
            return path
        raise Unavailable(f"{file} of {self.name} is missing: download it with `hf download {self.name}`")


HEM_V1 = HubModel("vectara/hallucination_evaluation_model", "hhem-1.0-open")
HEM_V2 = HubModel("vectara/hallucination_evaluation_model", files=("model.safetensors",))
FLAN_T5 = HubModel("google/flan-t5-base", files=TOKENIZER)
FACTKB = HubModel("bunsenfeng/FactKB")
ROBERTA = HubModel("roberta-base", files=TOKENIZER)
MINICHECK = HubModel("lytang/MiniCheck-RoBERTa-Large")
ALIGNSCORE = HubModel("yzha/AlignScore", files=("AlignScore-base.ckpt",))

hem_v1_downloaded, hem_v2_downloaded = HEM_V1.is_downloaded, HEM_V2.is_downloaded
flan_t5_downloaded, roberta_downloaded = FLAN_T5.is_downloaded, ROBERTA.is_downloaded
factkb_downloaded, minicheck_downloaded = FACTKB.is_downloaded, MINICHECK.is_downloaded
alignscore_downloaded = ALIGNSCORE.is_downloaded


def from_files(model: HubModel, load: Callable[..., Any]) -> Any:
    """What a `from_pretrained` makes of the files on this machine. Unavailable where it cannot."""
    hide_loading_bar()
    try:
        return load(model.name, revision=model.revision, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # the hub's client, the file system and the model's configuration fail each in their way
        raise Unavailable(
            f"{model.name} cannot be loaded: download it with `hf download {model.name}`", error
        ) from error


@load_once
def tokenizer(model: HubModel) -> Any:
    from transformers import AutoTokenizer

    return from_files(model, AutoTokenizer.from_pretrained)


@load_once
def classifier(model: HubModel) -> Any:
    """A model for the classification of sequences."""
    from transformers import AutoModelForSequenceClassification

    return from_files(model, AutoModelForSequenceClassification.from_pretrained).eval()


def limit(model: Any, tokenizer: Any) -> int:
    """The longest input in tokens. RoBERTa counts its positions from the padding index on."""
    positions = int(getattr(model.config, "max_position_embeddings", 512))
    if model.config.model_type == "roberta":
        positions -= int(model.config.pad_token_id) + 1
    return min(int(tokenizer.model_max_length), positions, 2048)


def run(model: Any, tokenizer: Any, inputs: Sequence[dict[str, Any]]) -> Any:
    """(inputs, …): the logits of encoded inputs, in batches, in order."""
    import torch

    found = []
    for start in range(0, len(inputs), BATCH):
        batch = tokenizer.pad(list(inputs[start : start + BATCH]), return_tensors="pt")
        with torch.inference_mode():
            found.append(model(**batch).logits.float())
    return torch.cat(found)


def pair_windows(
    tokenizer: Any, premise: str, hypothesis: str, longest: int, premise_first: bool
) -> list[dict[str, Any]]:
    """The encoded pair; of a long premise, overlapping windows, each with the whole hypothesis."""
    pair = (premise, hypothesis) if premise_first else (hypothesis, premise)
    cut = "only_first" if premise_first else "only_second"
    encoded = tokenizer(
        *pair, truncation=cut, max_length=longest, stride=min(64, longest // 8), return_overflowing_tokens=True
    )
    names = [n for n in ("input_ids", "attention_mask", "token_type_ids") if n in encoded]
    return [{n: encoded[n][window] for n in names} for window in range(len(encoded["input_ids"]))]
