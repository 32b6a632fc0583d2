"""Train the LoRA adapter of the larger verifier, all-mpnet-base-v2, over as many starts and machines as it takes.

    python -m training.larger.train --data FOLDER [--adapter FOLDER] [--work build/adapter] [--pairs 600000]

DATA holds nli/, eval/ and qa/. It goes on from the checkpoint in --work where there is one, else from the adapter in
--adapter with a short warm-up. What is written to --adapter is the moving average of the weights, in half precision,
whenever it is the best so far on the development sample. It can be stopped at any time. --questions takes what
training/claims/questions.py makes. --cool N ends a run early, for what it is worth by then: over N more pairs the rate
falls to zero, the average is a short one, and its last weights go to --adapter; the checkpoint stays for going on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from training import data
from training.base import load_base
from training.batching import BATCH, batches, encode
from training.larger import development, int8
from training.larger.pairs import Data, digest
from training.larger.reading import TOKENS, collate, probabilities
from training.losses import losses
from training.precision import autocast, fastest_type

RATE, WARM_UP, FALLING, CLIP, WEIGHT_DECAY = 2e-4, 100, 0.15, 1.0, 0.01  # WARM_UP in steps, FALLING a share of all
AVERAGED, COOLED = 0.999, 0.98  # how much of the moving average stays at each step, and while the rate falls at last
CHECKPOINT, EVALUATION = 600, 1800  # seconds between two, at least
EVALUATED = 5_000  # pairs between two evaluations, at least: on a busy machine they would take most of the time
RANK, ALPHA = 16, 32
TARGETS = ["q", "k", "v", "o", "intermediate.dense", "output.dense"]


def rate(step: int, left: int, falling: float) -> float:
    """The learning rate at a step of this start: constant after a short warm-up, linear to zero over the last pairs."""
    return RATE * min((step + 1) / WARM_UP, 1.0, max(0.0, left / falling))


def with_adapter(model: Any, folder: Path) -> Any:
    """The base with the adapter of the folder, or with a fresh one, ready to be trained."""
    from peft import LoraConfig, PeftModel, get_peft_model

    if (folder / "adapter_model.safetensors").exists():
        model = PeftModel.from_pretrained(model, str(folder), is_trainable=True)
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.data.float()
        return model
    config = LoraConfig(
        task_type="SEQ_CLS", r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, modules_to_save=["classifier"]
    )
    return get_peft_model(model, config)


def export(model: Any, folder: Path, state: dict[str, Any]) -> None:
    """Write the adapter in half precision, with what it has seen."""
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = {k: v.detach().cpu().half().contiguous() for k, v in get_peft_model_state_dict(model).items()}
    save_file(weights, str(folder / "adapter_model.part"), metadata={"format": "pt"})
    os.replace(folder / "adapter_model.part", folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "task_type": "SEQ_CLS", "r": RANK, "lora_alpha": ALPHA, "target_modules": TARGETS}
    config |= {"modules_to_save": ["classifier"], "base_model_name_or_path": "sentence-transformers/all-mpnet-base-v2"}
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    (folder / "state.json").write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/, eval/ and qa/")
    parser.add_argument("--adapter", type=Path, default=Path("build/larger"))
    parser.add_argument("--work", type=Path, default=Path("build/adapter"), help="checkpoint and log")
    parser.add_argument("--questions", type=Path, help="made by training.claims.questions before")
    parser.add_argument("--base", default="all-mpnet-base")
    parser.add_argument("--pairs", type=int, default=600_000, help="to be seen in all, over every start")
    parser.add_argument("--cool", type=int, default=0, help="end after so many more pairs")
    parser.add_argument("--seed", type=int, default=13)
    args = parser.parse_args(argv)

    import torch

    torch.set_flush_denormal(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    kind = torch.float32 if int8.fast(device) else fastest_type(device)  # products in int8 are scaled in float32
    try:
        pairs_of = Data(args.data, args.questions)
        torch.manual_seed(args.seed)
        model, tokenizer = load_base(args.base)
    except (ValueError, OSError) as error:
        print(f"training: {error}", file=sys.stderr)
        return 2
    model = with_adapter(model, args.adapter).to(device)
    if int8.fast(device):
        int8.keep_memory()
        int8.quantise(model)
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    optimizer = torch.optim.AdamW(trained.values(), lr=RATE, weight_decay=WEIGHT_DECAY, fused=True)
    average = {name: p.detach().clone() for name, p in trained.items()}

    args.work.mkdir(parents=True, exist_ok=True)
    checkpoint, log = args.work / "checkpoint.pt", args.work / "log.jsonl"
    written = args.adapter / "state.json"
    state = json.loads(written.read_text(encoding="utf-8")) if written.exists() else {}
    seen, measured_on, best = (
        state.get("pairs", 0),
        state.get("development"),
        state.get("figures", {}).get("score", -1.0),
    )
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device, weights_only=True)
        for name, parameter in trained.items():
            parameter.data.copy_(saved["trained"][name])
        average, seen = saved["average"], saved["pairs"]
        cooled = best if saved.get("development") == measured_on else -1.0  # the adapter's own figure may be better
        measured_on, best = saved.get("development"), max(cooled, saved["best"])
        optimizer.load_state_dict(saved["optimizer"])
    drawn_from, sample, step, loss_sum = pairs_of.digest, digest(pairs_of.development), 0, 0.0
    drawn = f"{len(pairs_of.train)} pairs and {len(pairs_of.real)} in-domain ones"
    print(f"{drawn}, data {drawn_from}, {seen} pairs seen, {kind}")

    def save() -> None:
        if args.cool:
            return
        raw = {name: p.detach() for name, p in trained.items()}
        made = {"trained": raw, "average": average, "optimizer": optimizer.state_dict(), "pairs": seen}
        made |= {"best": best, "development": sample}
        torch.save(made, checkpoint.with_suffix(".part"))
        os.replace(checkpoint.with_suffix(".part"), checkpoint)

    def evaluate() -> None:
        """Measure the average and keep it where it is the best so far."""
        nonlocal best
        raw = {name: p.detach().clone() for name, p in trained.items()}
        for name, parameter in trained.items():
            parameter.data.copy_(average[name])
        measured = development.figures(
            probabilities(model, pairs_of.development, tokenizer, device, kind), pairs_of.development
        )
        line = {"pairs": seen, "loss": round(loss_sum / max(1, step - last_step), 4), "figures": measured}
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line | {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}) + "\n")
        print(json.dumps(line), flush=True)
        if measured["score"] > best:
            best = measured["score"]
            record = {"pairs": seen, "seed": args.seed, "data": drawn_from, "development": sample, "figures": measured}
            export(model, args.adapter, record)
        for name, parameter in trained.items():
            parameter.data.copy_(raw[name])

    def stop(number: int, frame: Any) -> None:
        save()
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    best = best if measured_on == sample and not args.cool else -1.0  # measured on another sample
    end = seen + args.cool if args.cool else args.pairs
    falling, stays = (args.cool, COOLED) if args.cool else (FALLING * args.pairs, AVERAGED)
    last_step, measured_at = 0, seen
    saved_at = evaluated_at = timed = time.monotonic()
    model.train()
    while seen < end:
        pairs = pairs_of.portion(args.seed + seen)  # every start draws anew
        weights, ids = torch.tensor(data.class_weights(pairs)), encode(pairs, tokenizer, TOKENS)
        print(f"{len(pairs)} pairs drawn, {sum(map(len, ids)) / len(ids):.0f} tokens each", flush=True)
        for batch in batches(ids, random.Random(args.seed + seen)):
            if seen >= end:
                break
            for settings in optimizer.param_groups:
                settings["lr"] = rate(step, end - seen, falling)
            targets = torch.tensor([pairs[i].target for i in batch])
            importance = (torch.tensor([pairs[i].weight for i in batch]) * weights[targets]).to(device)
            inputs = collate([ids[i] for i in batch], tokenizer.pad_token_id)
            with autocast(device, kind):
                logits = model(**{k: v.to(device) for k, v in inputs.items()}).logits
            loss = (losses(logits, targets.to(device)) * importance).sum() / importance.sum()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained.values(), CLIP)
            optimizer.step()
            step, seen, loss_sum = step + 1, seen + len(batch), loss_sum + loss.item()
            decay = min(stays, (1 + step) / (10 + step))
            torch._foreach_lerp_(list(average.values()), [p.detach() for p in trained.values()], 1 - decay)
            if step % 50 == 0:
                speed, timed = 50 * BATCH / (time.monotonic() - timed), time.monotonic()
                print(f"{seen} pairs, loss {loss.item():.3f}, {speed:.1f} pairs a second", flush=True)
            if time.monotonic() - saved_at > CHECKPOINT:
                save()
                saved_at = time.monotonic()
            if not args.cool and time.monotonic() - evaluated_at > EVALUATION and seen - measured_at >= EVALUATED:
                evaluate()
                last_step, measured_at, loss_sum, evaluated_at = step, seen, 0.0, time.monotonic()
    evaluate()
    save()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
