"""Train the small verifier on, with the larger one as its teacher (Hinton et al. 2015, section 2).

    python -m training.pupil --data FOLDER --questions FILE --out build/pupil [--pairs 60000]

DATA holds nli/, eval/ and qa/; --questions takes what training/claims/questions.py makes. The pairs are those that the
larger one is trained on, and claims against the passages that share most telling words with them, which nobody has
labelled: there the teacher's probabilities are all there is. Elsewhere they count beside the label. It goes on from the
last checkpoint in --out. Deterministic for a seed, up to the order of float additions.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from attribution.errors import AttributionError
from attribution.models.onnx import in_threads
from attribution.verifiers import embedded_base
from training import data, drawing
from training.base import load_base
from training.batching import BATCH, batches, collate, encode
from training.larger import development
from training.larger.pairs import REAL, Data
from training.larger.reading import TOKENS
from training.losses import losses, taught
from training.precision import autocast, fastest_type
from training.train import CLIP, WARM_UP, WEIGHT_DECAY, freeze_words, predict

TAUGHT = 0.6  # how much the teacher's probabilities count beside a label
UNLABELLED = 0.3  # pairs nobody has labelled, for each that somebody has
CHECKPOINT = 600  # seconds between two
UNKNOWN = data.NOT_CONTRADICTION + 1  # the target of a pair without a label


class Unlabelled:
    """Claims against the passages of their source that share most telling words with them."""

    def __init__(self, pairs_of: Data) -> None:
        around = drawing.surroundings(pairs_of.real).near | pairs_of.around.near
        self._claims = [p for p in pairs_of.train + pairs_of.real * REAL if p.source in around]
        self._around = around

    def draw(self, count: int, rng: random.Random) -> list[data.Pair]:
        """About as many; a claim that shares no telling word with another passage gives none."""
        made: list[data.Pair] = []
        for pair in rng.choices(self._claims, k=count) if self._claims else ():
            if found := self._around[pair.source].near(pair.hypothesis, pair.premise, known=1.0):
                made.append(replace(pair, premise=rng.choice(found), target=UNKNOWN, weight=1.0))
        return made


def teacher() -> Any:
    """A function from pairs to what the larger verifier makes of them: log probabilities, (pairs, 3)."""
    import torch

    reader = embedded_base.reader()

    def read(pair: data.Pair) -> tuple[float, float]:
        claim = reader.encode(pair.hypothesis[:600])[0]
        return reader.read(reader.encode(pair.premise)[0][: TOKENS - len(claim)], claim)

    def opinions(pairs: list[data.Pair]) -> Any:
        found = torch.tensor([(e, 1 - e - c, c) for e, c in in_threads(read, pairs)])
        return found.clamp_min(1e-6).log()

    return opinions


def loss_of(logits: Any, targets: Any, opinion: Any) -> Any:
    """The loss per pair: by label and teacher, or by the teacher alone."""
    labelled = (targets != UNKNOWN) * (1 - TAUGHT)
    by_label = losses(logits, targets.clamp(max=data.NOT_CONTRADICTION))
    return labelled * by_label + (1 - labelled) * taught(logits, targets, opinion)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/, eval/ and qa/")
    parser.add_argument("--questions", type=Path, help="made by training.claims.questions before")
    parser.add_argument("--out", type=Path, required=True, help="where checkpoints and the finished model go")
    parser.add_argument("--base", default="embedded-small", help="what it goes on from; see training.train")
    parser.add_argument("--pairs", type=int, default=60_000)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--seed", type=int, default=19)
    args = parser.parse_args(argv)

    import torch

    torch.set_flush_denormal(True)
    kind = fastest_type("cpu")
    try:
        pairs_of = Data(args.data, args.questions)
        model, tokenizer = load_base(args.base)
        opinions = teacher()
    except (ValueError, OSError, AttributionError) as error:
        print(f"training: {error}", file=sys.stderr)
        return 2
    torch.manual_seed(args.seed)
    model.set_attn_implementation("eager")  # on CPUs the backward pass of fused attention is the slower one
    freeze_words(model)
    trained = [p for p in model.parameters() if p.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": [p for p in trained if p.ndim > 1]},
        {"params": [p for p in trained if p.ndim == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=args.rate, weight_decay=WEIGHT_DECAY, fused=True)
    unlabelled = Unlabelled(pairs_of)

    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint, log, seen = args.out / "checkpoint.pt", args.out / "log.jsonl", 0
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location="cpu", weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        seen = saved["pairs"]

    def measure() -> dict[str, float]:
        with autocast("cpu", kind):
            logits = predict(model, encode(pairs_of.development, tokenizer, TOKENS), tokenizer)
        figures = development.figures(torch.softmax(logits, -1), pairs_of.development)
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"pairs": seen, "figures": figures}) + "\n")
        return figures

    if not seen:
        print(json.dumps(measure()), flush=True)
    saved_at, step = time.monotonic(), 0
    while seen < args.pairs:
        rng = random.Random(args.seed + seen)  # every start draws anew
        labelled = pairs_of.portion(args.seed + seen)
        weights = torch.tensor([*data.class_weights(labelled), 1.0])
        pairs = labelled + unlabelled.draw(round(UNLABELLED * len(labelled)), rng)
        ids = encode(pairs, tokenizer, TOKENS)
        for batch in batches(ids, rng):
            if seen >= args.pairs:
                break
            warm = WARM_UP * args.pairs
            for group in optimizer.param_groups:
                group["lr"] = args.rate * min((seen + BATCH) / warm, (args.pairs - seen) / (args.pairs - warm))
            targets = torch.tensor([pairs[i].target for i in batch])
            importance = torch.tensor([pairs[i].weight for i in batch]) * weights[targets]
            opinion = opinions([pairs[i] for i in batch])
            model.train()
            with autocast("cpu", kind):
                logits = model(**collate([ids[i] for i in batch], tokenizer)).logits
            loss = (loss_of(logits, targets, opinion) * importance).sum() / importance.sum()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, CLIP)
            optimizer.step()
            seen, step = seen + len(batch), step + 1
            if step % 50 == 0:
                print(f"{seen} pairs, loss {loss.item():.3f}", flush=True)
            if time.monotonic() - saved_at > CHECKPOINT:
                made = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "pairs": seen}
                torch.save(made, checkpoint.with_suffix(".part"))
                os.replace(checkpoint.with_suffix(".part"), checkpoint)
                saved_at = time.monotonic()
    model.float().eval()
    model.save_pretrained(args.out / "model")
    tokenizer.save_pretrained(args.out / "model")
    recipe = {"pairs": seen, "rate": args.rate, "seed": args.seed, "base": args.base, "data": pairs_of.digest}
    summary = {"recipe": recipe, "development": measure()}
    (args.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
