"""Fine-tune a cross-encoder with one output on answers and their altered twins; the method `gc`
takes it.

python -m attribution evoke --input grounded.jsonl --output twins.jsonl
python -m training.twins.train --input twins.jsonl --out FOLDER [--base FOLDER] [--passes 3]
python -m attribution benchmark --input set.jsonl --methods gc --set gc_model=FOLDER/model --out
tables
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attribution.embedders.minilm import package_folder
from attribution.errors import AttributionError
from attribution.settings import Settings
from training.twins.pairs import Pair, divided, pairs, read

OUTPUT = "grounded"
BATCH, TOKENS = 16, 256


def load_base(folder: Path) -> tuple[Any, Any]:
    """Return (model with a fresh head of one output, tokenizer) of a folder with a model."""
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    config = AutoConfig.from_pretrained(folder)
    # few passes over little data leave nothing for dropout to prevent, and it costs a fifth of the
    # time
    dropout = {
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "classifier_dropout": 0.1,
    }
    config.update({"num_labels": 1, "id2label": {0: OUTPUT}, "label2id": {OUTPUT: 0}, **dropout})
    model = AutoModelForSequenceClassification.from_pretrained(folder, config=config)
    return model, AutoTokenizer.from_pretrained(folder)


def encode(found: Sequence[Pair], tokenizer: Any) -> list[list[int]]:
    """Token ids of [context, response]; only the context is cut."""
    texts = [p.context for p in found], [p.response for p in found]
    made = tokenizer(
        *texts, truncation="only_first", max_length=TOKENS, return_token_type_ids=False
    )
    ids: list[list[int]] = made["input_ids"]
    return ids


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


def scores(model: Any, ids: Sequence[list[int]], tokenizer: Any) -> list[float]:
    """The groundedness of each pair, from 0 to 1."""
    import torch

    model.eval()
    found: list[float] = []
    with torch.inference_mode():
        for start in range(0, len(ids), BATCH):
            logits = model(**collate(list(ids[start : start + BATCH]), tokenizer)).logits
            found += logits[:, 0].float().sigmoid().tolist()
    return found


def told_apart(found: Sequence[Pair], given: Sequence[float]) -> float | None:
    """The share of a group's pairs in which the higher target has the higher score; None without
    any.
    """
    by_group: dict[str, list[tuple[float, float]]] = {}
    for pair, score in zip(found, given, strict=True):
        by_group.setdefault(pair.group, []).append((pair.target, score))
    right = [
        one[1] > other[1]
        for group in by_group.values()
        for one in group
        for other in group
        if one[0] > other[0] + 0.1
    ]
    return sum(right) / len(right) if right else None


def train(
    model: Any, tokenizer: Any, found: Sequence[Pair], *, passes: int, rate: float, seed: int
) -> list[float]:
    """Binary cross-entropy to the targets; the mean loss of each pass."""
    import torch

    ids, targets = encode(found, tokenizer), torch.tensor([p.target for p in found])
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    steps = passes * -(-len(found) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    order, losses = list(range(len(found))), []
    torch.manual_seed(seed)
    for turn in range(passes):
        random.Random(seed + turn).shuffle(order)
        model.train()
        total = 0.0
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            logits = model(**collate([ids[i] for i in batch], tokenizer)).logits[:, 0]
            loss: Any = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets[batch])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item() * len(batch)
        losses.append(total / len(order))
        print(f"pass {turn + 1} of {passes}: loss {losses[-1]:.3f}", file=sys.stderr)
    return losses


def main(argv: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument(
        "--input", type=Path, required=True, help="answers and their twins, as `evoke` writes them"
    )
    p.add_argument(
        "--out", type=Path, required=True, help="the model and summary.json are written there"
    )
    p.add_argument("--base", type=Path, help="a folder with a model (default: all-MiniLM-L6-v2)")
    p.add_argument("--passes", type=int, default=3)
    p.add_argument("--rate", type=float, default=5e-5)
    p.add_argument(
        "--development", type=float, default=0.2, help="share of the answers that is held out"
    )
    p.add_argument("--seed", type=int, default=13)
    args = p.parse_args(argv)
    try:
        found = pairs(read(args.input), Settings.from_environment())
        taught, held = divided(found, args.development, args.seed)
        model, tokenizer = load_base(args.base or package_folder())
    except (AttributionError, ValueError) as error:
        print(f"training: {error}", file=sys.stderr)
        return 2
    held_ids = encode(held, tokenizer)
    before = told_apart(held, scores(model, held_ids, tokenizer))
    losses = train(model, tokenizer, taught, passes=args.passes, rate=args.rate, seed=args.seed)
    after = told_apart(held, scores(model, held_ids, tokenizer))
    model.save_pretrained(args.out / "model")
    tokenizer.save_pretrained(args.out / "model")
    summary = {
        "pairs": len(taught),
        "held_out": len(held),
        "loss": [round(x, 4) for x in losses],
        "told_apart_before": before,
        "told_apart": after,
    }
    (args.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
