"""Pairs of texts to batches of token ids."""

from __future__ import annotations

import random
from typing import Any

from training import data

BATCH, BLOCK = 32, 60  # pairs a batch; batches a block within which pairs are sorted by length


def encode(pairs: list[data.Pair], tokenizer: Any, tokens: int) -> list[list[int]]:
    """Token ids of [premise, hypothesis]; only the premise is cut."""
    out: list[list[int]] = []
    for start in range(0, len(pairs), 2000):
        part = pairs[start : start + 2000]
        out += tokenizer(
            [p.premise for p in part],
            [p.hypothesis[:600] for p in part],
            truncation="only_first",
            max_length=tokens,
            return_token_type_ids=False,
        )["input_ids"]
    return out


def collate(ids: list[list[int]], tokenizer: Any) -> dict[str, Any]:
    """The inputs of the tokenizer's model, each (pairs, tokens)."""
    import torch

    tokens = torch.full((len(ids), max(map(len, ids))), tokenizer.pad_token_id)
    types, mask = torch.zeros_like(tokens), torch.zeros_like(tokens)
    for i, row in enumerate(ids):
        tokens[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
        types[i, row.index(tokenizer.sep_token_id) + 1 : len(row)] = 1
    made = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": types}
    return {name: value for name, value in made.items() if name in tokenizer.model_input_names}


def batches(ids: list[list[int]], rng: random.Random) -> list[list[int]]:
    """Indices of one epoch's batches: of like length, in random order."""
    order = list(range(len(ids)))
    rng.shuffle(order)
    size = BATCH * BLOCK
    made = []
    for start in range(0, len(order), size):
        block = sorted(order[start : start + size], key=lambda i: len(ids[i]))
        made += [block[i : i + BATCH] for i in range(0, len(block), BATCH)]
    rng.shuffle(made)
    return made
