"""Any three-way NLI model of the hub; by default the DeBERTa model that V24 found closest to human judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attribution.errors import BadInput, ModelUnavailable
from attribution.models.hub import hide_loading_bar
from attribution.models.loading import load_once
from attribution.settings import Settings
from attribution.text.lexical import deciding_sentence
from attribution.types import RELATIONS, Judgement, Pair, Probabilities, Relation

MODELS = {
    "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli": "large, 0.9 GB: as in V24",
    "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli": "base, 0.4 GB: about three times faster",
}
DEFAULT = next(iter(MODELS))
BATCH = 16
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
MEANINGS: dict[str, Relation] = {
    "entailment": "entailed",
    "entailed": "entailed",
    "contradiction": "contradicted",
    "contradicted": "contradicted",
    "neutral": "no_relation",
}


def relation_columns(id2label: Mapping[int, str]) -> dict[Relation, int]:
    """The column of each relation in the logits, whose order differs between models. BadInput for other labels."""
    columns = {MEANINGS[name.lower()]: int(i) for i, name in id2label.items() if name.lower() in MEANINGS}
    if len(id2label) != 3 or len(columns) != 3:
        raise BadInput(
            f"the model's labels are {sorted(id2label.values())}; "
            "expected entailment, neutral and contradiction: choose an NLI model"
        )
    return columns


def is_downloaded(settings: Settings) -> bool:
    """Whether the weights of the model that the settings name are on this machine."""
    name = settings.verifier_model or DEFAULT
    if Path(name).is_dir():
        return True
    from huggingface_hub import try_to_load_from_cache

    try:
        return any(isinstance(try_to_load_from_cache(name, file), str) for file in WEIGHTS)
    except ValueError:  # no name of a model: loading it says so
        return False


@load_once
def _load(name: str) -> tuple[Any, Any, dict[Relation, int]]:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    hide_loading_bar()
    cuda = torch.cuda.is_available()
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForSequenceClassification.from_pretrained(
            name, dtype=torch.bfloat16 if cuda else torch.float32
        )
    except (OSError, ValueError) as error:
        raise ModelUnavailable(name, "verifier_model", "embedded-small", error) from error
    columns = relation_columns(model.config.id2label)
    return model.to("cuda" if cuda else "cpu").eval(), tokenizer, columns


class Deberta:
    """Verifier `deberta`; `settings.verifier_model` names another hub model or a folder."""

    usage = None

    def __init__(self, settings: Settings) -> None:
        self.model = settings.verifier_model or DEFAULT
        self.version = f"deberta/{self.model}"

    def estimate(self, pairs: Sequence[Pair]) -> None:
        return None

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement for each pair, in order; the title precedes the evidence.

        A premise that is longer than the model's input is read in overlapping windows.
        """
        import torch

        for number, (claim, evidence, *_) in enumerate(pairs, 1):
            if not claim.strip() or not evidence.strip():
                raise BadInput(f"pair {number}: the {'evidence' if claim.strip() else 'claim'} is empty; expected text")
        model, tokenizer, columns = _load(self.model)
        limit = min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", 512), 512)
        inputs: list[tuple[int, dict[str, Any]]] = []
        for i, (claim, evidence, *title) in enumerate(pairs):
            if len(tokenizer.tokenize(claim)) > limit // 2:
                raise BadInput(
                    f"pair {i + 1}: the claim fills more than half of the model's {limit} tokens: segment it first"
                )
            titled = bool(title and title[0]) and not evidence.startswith(title[0])
            encoded = tokenizer(
                f"{title[0]}. {evidence}" if titled else evidence,
                claim,
                truncation="only_first",
                max_length=limit,
                stride=min(64, limit // 8),
                return_overflowing_tokens=True,
            )
            names = [n for n in ("input_ids", "attention_mask", "token_type_ids") if n in encoded]
            inputs += [(i, {n: encoded[n][window] for n in names}) for window in range(len(encoded["input_ids"]))]
        inputs.sort(key=lambda item: len(item[1]["input_ids"]))
        best: dict[int, dict[Relation, float]] = {}
        for start in range(0, len(inputs), BATCH):
            part = inputs[start : start + BATCH]
            batch = tokenizer.pad([features for _, features in part], return_tensors="pt").to(model.device)
            with torch.inference_mode():
                probabilities = torch.softmax(model(**batch).logits.float(), dim=-1).cpu().tolist()
            for (i, _), row in zip(part, probabilities, strict=True):
                p = {r: row[columns[r]] for r in RELATIONS}
                if i not in best or max(p["entailed"], p["contradicted"]) > max(
                    best[i]["entailed"], best[i]["contradicted"]
                ):
                    best[i] = p
        return [
            Judgement(
                Probabilities(**{r: min(1.0, max(0.0, v)) for r, v in best[i].items()}),
                deciding_sentence(claim, evidence),
            )
            for i, (claim, evidence, *_) in enumerate(pairs)
        ]
