"""Batches of pairs and the model's reading of them, for training and evaluation of the larger verifier."""

from __future__ import annotations

from typing import Any

from training import data
from training.batching import BATCH, encode
from training.precision import autocast

TOKENS, PADDED = 192, 16


def collate(ids: list[list[int]], pad: int) -> dict[str, Any]:
    """Padded to a multiple of `PADDED`: oneDNN builds and keeps a kernel for every other shape."""
    import torch

    length = -(-max(map(len, ids)) // PADDED) * PADDED
    tokens = torch.full((len(ids), length), pad)
    mask = torch.zeros_like(tokens)
    for i, row in enumerate(ids):
        tokens[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
    return {"input_ids": tokens, "attention_mask": mask}


def probabilities(model: Any, pairs: list[data.Pair], tokenizer: Any, device: str, kind: Any) -> Any:
    """(pairs, 3), in the order given."""
    import torch

    ids = encode(pairs, tokenizer, TOKENS)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    found = torch.zeros(len(ids), 3)
    model.eval()
    with torch.inference_mode(), autocast(device, kind):
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            inputs = collate([ids[i] for i in part], tokenizer.pad_token_id)
            logits = model(**{k: v.to(device) for k, v in inputs.items()}).logits
            found[part] = torch.softmax(logits.float(), -1).cpu()
    model.train()
    return found
