"""Fine-tune a small cross-encoder for three-way NLI; see training/README.md for the command that made ours.

    python -m training.train --data FOLDER --out FOLDER [--exclude EVALUATION_FOLDER]

Resumes from the last checkpoint in --out. Deterministic for a seed, up to the order of float additions.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from training import data, drawing
from training.base import BASES, load_base
from training.batching import BATCH, batches, collate, encode
from training.losses import losses, temperature
from training.precision import autocast, fastest_type

WARM_UP, WEIGHT_DECAY, CLIP = 0.06, 0.01, 1.0


def freeze_words(model: Any) -> None:
    """Leave the word embeddings as they are: most words are too rare in this data to be learnt."""
    model.get_input_embeddings().weight.requires_grad_(False)


def predict(model: Any, ids: list[list[int]], tokenizer: Any) -> Any:
    """Logits, (pairs, 3), in the order given."""
    import torch

    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    out = torch.zeros(len(ids), 3)
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            part = order[start : start + 64]
            out[part] = model(**collate([ids[i] for i in part], tokenizer)).logits.float()
    return out


def report(logits: Any, pairs: list[data.Pair]) -> dict[str, float]:
    """Accuracy by source (two classes where the source knows two) and over all."""
    right: dict[str, list[bool]] = defaultdict(list)
    for p, guess in zip(pairs, logits.argmax(-1).tolist(), strict=True):
        right[p.source].append(guess == p.target or (p.target == data.NOT_ENTAILMENT and guess > 0))
    figures = {name: sum(r) / len(r) for name, r in sorted(right.items())}
    figures["all"] = sum(map(sum, right.values())) / len(pairs)
    return {name: round(value, 4) for name, value in figures.items()}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of NLI pairs (*.jsonl.gz)")
    parser.add_argument("--out", type=Path, required=True, help="where checkpoints and the finished model go")
    parser.add_argument("--exclude", type=Path, help="folder of evaluation sets whose pairs are left out")
    parser.add_argument("--base", default="ms-marco-minilm-l12", help=f"{', '.join(BASES)}, or a model's folder")
    parser.add_argument("--passes", type=float, default=2.75)
    parser.add_argument("--rate", type=float, default=1.2e-4)
    parser.add_argument("--tokens", type=int, default=192)
    parser.add_argument("--most", type=int, help="use at most this many training pairs (for a smoke run)")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--no-rules", action="store_true", help="no pairs made by rule, no lengthened premises")
    args = parser.parse_args(argv)

    import torch
    from tqdm import tqdm

    try:
        train, dev = data.load(args.data, data.evaluation_keys(args.exclude))
        torch.manual_seed(args.seed)
        model, tokenizer = load_base(args.base)
    except ValueError as error:
        print(f"training: {error}", file=sys.stderr)
        return 2
    random.Random(args.seed).shuffle(train)
    if args.most:
        train, dev = train[: args.most], dev[: max(50, args.most // 20)]
    if not args.no_rules:
        train += data.by_rule(train, args.seed)
    around = None if args.no_rules else drawing.surroundings(train)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    kind = fastest_type(device)
    model.to(device)
    if model.config.model_type == "bert":
        model.set_attn_implementation("eager")  # on CPUs the backward pass of fused attention is the slower one
    freeze_words(model)
    decayed = [p for n, p in model.named_parameters() if p.requires_grad and p.ndim > 1]
    plain = [p for n, p in model.named_parameters() if p.requires_grad and p.ndim == 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": plain, "weight_decay": 0.0}],
        lr=args.rate,
        fused=True,
    )
    first = drawing.one_pass(train, args.seed, around)
    weights = torch.tensor(data.class_weights(first))
    per_pass = math.ceil(len(first) / BATCH)
    total = max(1, round(per_pass * args.passes))

    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint, log = args.out / "checkpoint.pt", args.out / "log.jsonl"
    step = 0
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]
    print(
        f"{len(train)} pairs to train on, {len(dev)} for development, {total} steps of {BATCH}, from step {step}",
        file=sys.stderr,
    )
    dev_ids = encode(dev, tokenizer, args.tokens)

    def save() -> None:
        partial = checkpoint.with_suffix(".part")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, partial)
        os.replace(partial, checkpoint)

    started, bar = time.monotonic(), tqdm(total=total, initial=step, unit="step", mininterval=5)
    while step < total:
        turn, done = divmod(step, per_pass)
        pairs = drawing.one_pass(train, args.seed + turn, around)
        ids = encode(pairs, tokenizer, args.tokens)
        made = batches(ids, random.Random(args.seed + turn))
        for batch in (made * 2)[done:per_pass]:  # passes are drawn anew, and one may come out shorter than the first
            if step >= total:
                break
            warm = max(1, WARM_UP * total)
            for group in optimizer.param_groups:
                group["lr"] = args.rate * min((step + 1) / warm, (total - step) / max(1, total - warm))
            targets = torch.tensor([pairs[i].target for i in batch])
            importance = torch.tensor([pairs[i].weight for i in batch]) * weights[targets]
            model.train()
            inputs = {k: v.to(device) for k, v in collate([ids[i] for i in batch], tokenizer).items()}
            with autocast(device, kind):
                logits = model(**inputs).logits
            loss = (losses(logits, targets.to(device)) * importance.to(device)).sum() / importance.sum()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(decayed + plain, CLIP)
            optimizer.step()
            step += 1
            bar.update()
            if step % 50 == 0:
                bar.set_postfix(loss=f"{loss.item():.3f}")
            if step % 200 == 0:
                save()
            if step % 1000 == 0 or step == total:
                with autocast(device, kind):
                    figures = report(predict(model, dev_ids, tokenizer), dev) if device == "cpu" else {}
                line = {"step": step, "seconds": round(time.monotonic() - started), "dev": figures}
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
    bar.close()
    save()
    model.to("cpu").float()
    logits = predict(model, dev_ids, tokenizer)
    best = temperature(logits, dev)
    model.config.nli_temperature = best
    model.save_pretrained(args.out / "model")
    tokenizer.save_pretrained(args.out / "model")
    recipe = {
        k: (str(v) if isinstance(v, Path) else v) for k, v in vars(args).items() if k not in ("data", "out", "exclude")
    }
    summary = {
        "recipe": recipe,
        "pairs": len(train),
        "steps": total,
        "temperature": round(best, 2),
        "dev": report(logits, dev),
    }
    (args.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
