"""Train the reader: a LoRA adapter on all-mpnet-base-v2 (Hu et al. 2021).

    python -m training.reader --data FOLDER --start ADAPTER --out ADAPTER --pairs 9000

`--start` names the adapter to go on from, by default the one that ships; `--fresh` begins anew.
`--small` teaches the small reader instead (`training.small`). `--first-portion` says where in the
endless order of pairs a run begins, so that several runs see different pairs. The moving average of
the weights is written to `--out` every few minutes and at the end; with SIGTERM a run ends early.
Deterministic for a seed, up to the order of float additions. Needs `peft`.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from attribution.models.mpnet import MODEL_FILES, base_files
from training import command, int8, small
from training.pairs import (
    CHOOSING_FOLD,
    CONTRADICTED,
    ENTAILED,
    NEITHER,
    RELATIONS,
    SHARES,
    Pair,
    cut,
    evaluation_keys,
    is_held_out,
    joined,
    judged,
    patterns,
    real,
    replayed,
    swapped,
    written,
)

TOKENS = 256  # of a claim and its passage
BATCH = 32  # pairs
PADDED = 16  # tokens: kernels are kept for each length that occurs
AT_ONCE = 2_560  # tokens whose activations are in memory: 2 GB
RATE = 1.5e-4  # of learning, after the first steps
LAST_RATE = 0.05  # share of it at the end
WARM_UP = 60  # steps
CLIP = 1.0  # length of a gradient
WEIGHT_DECAY = 0.01
AVERAGED = 0.997  # how much of the moving average stays at each step
SAVED_EVERY = 300  # seconds
RANK = 16  # of the adapter
SCALE = 2  # of what it adds
LAYERS = "q k v o query key value intermediate.dense output.dense pooler.dense".split()
ADAPTER = Path("attribution/verifiers/base")
PORTION = 4_800  # pairs drawn at a time


class Mixture:
    """All pairs to train on, and the endless, repeatable order in which they come."""

    def __init__(self, folder: Path, seed: int) -> None:
        """Read all pairs.

        Args:
            folder: That of the public data.
            seed: Decides which pairs are made, and their order.
        """
        rng = random.Random(seed)
        hand = [pair for pair in written() + judged() if not is_held_out(pair.document)]
        self._pools = {name: [p for p in hand if p.source == name] for name in SHARES}
        self._pools["cut"] = cut(rng)
        self._pools["patterns"] = patterns(rng)
        self._pools["joined"] = joined(rng)
        self._pools["swapped"] = swapped(rng)
        self._pools["real"] = real(folder / "eval", frozenset(range(CHOOSING_FOLD)))
        excluded = evaluation_keys(folder / "eval")
        self._pools["replay"] = replayed(folder / "nli", excluded, rng)
        for pool in self._pools.values():
            rng.shuffle(pool)
        self._seed = seed

    @property
    def sizes(self) -> dict[str, int]:
        """The number of pairs of each kind."""
        return {name: len(pool) for name, pool in self._pools.items()}

    def portion(self, number: int) -> list[Pair]:
        """Return the pairs of one portion.

        Every pool is gone through in turn before it repeats.

        Args:
            number: Of the portion, from 0.
        """
        pairs: list[Pair] = []
        for name, share in SHARES.items():
            pool = self._pools[name]
            count = round(PORTION * share)
            start = number * count
            for index in range(start, start + count):
                pairs.append(pool[index % len(pool)])
        random.Random(self._seed + number).shuffle(pairs)
        return pairs


def load_base() -> tuple[Any, Any]:
    """Return all-mpnet-base-v2 with a fresh head for three relations, and its tokenizer."""
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    with tempfile.TemporaryDirectory() as folder:
        base_files(Path(folder), MODEL_FILES)
        config = AutoConfig.from_pretrained(
            folder,
            num_labels=len(RELATIONS),
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            classifier_dropout=0.1,
        )
        model = AutoModelForSequenceClassification.from_pretrained(folder, config=config)
        return model, AutoTokenizer.from_pretrained(folder)


def with_adapter(model: Any, start: Path | None, rank: int = RANK) -> Any:
    """Return the base with an adapter that is ready to be trained.

    Args:
        model: The base.
        start: The adapter's folder; None for a fresh one.
        rank: That of a fresh one.
    """
    from peft import LoraConfig, PeftModel, get_peft_model

    if start is None:
        config = LoraConfig(
            task_type="SEQ_CLS",
            r=rank,
            lora_alpha=SCALE * rank,
            target_modules=LAYERS,
            modules_to_save=["classifier"],
        )
        return get_peft_model(model, config)
    model = PeftModel.from_pretrained(model, str(start), is_trainable=True)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
    return model


def export(model: Any, folder: Path, state: dict[str, Any]) -> None:
    """Write the adapter in half precision, and how it was made.

    Args:
        model: The base with its adapter.
        folder: Where it is written; a killed run leaves the adapter that was there.
        state: How it was made.
    """
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: tensor.detach().cpu().half().contiguous()
        for name, tensor in get_peft_model_state_dict(model).items()
    }
    partial = folder / "adapter_model.part"
    save_file(weights, str(partial), metadata={"format": "pt"})
    os.replace(partial, folder / "adapter_model.safetensors")
    config = model.peft_config["default"]
    values = {
        "peft_type": "LORA",
        "task_type": "SEQ_CLS",
        "r": config.r,
        "lora_alpha": config.lora_alpha,
        "target_modules": sorted(config.target_modules),
        "modules_to_save": ["classifier"],
        "base_model_name_or_path": model.config.name_or_path,
    }
    (folder / "adapter_config.json").write_text(json.dumps(values, indent=1) + "\n")
    (folder / "state.json").write_text(json.dumps(state, indent=1) + "\n")


def encode(pairs: list[Pair], tokenizer: Any) -> list[list[int]]:
    """Return the token ids of passage and claim.

    Args:
        pairs: The pairs.
        tokenizer: The base's.

    Returns:
        At most TOKENS for each pair; only the passage is cut.
    """
    encoded = tokenizer(
        [pair.premise for pair in pairs],
        [pair.claim[:600] for pair in pairs],
        truncation="only_first",
        max_length=TOKENS,
        return_token_type_ids=False,
    )
    ids: list[list[int]] = encoded["input_ids"]
    return ids


def collate(ids: list[list[int]], tokenizer: Any) -> dict[str, torch.Tensor]:
    """Return the inputs of a batch.

    Args:
        ids: The tokens of each pair.
        tokenizer: The base's.

    Returns:
        `input_ids` and `attention_mask`, each of shape (pairs, tokens), and `token_type_ids` for a
        base that has them.
    """
    longest = max(len(row) for row in ids)
    length = -(-longest // PADDED) * PADDED
    tokens = torch.full((len(ids), length), tokenizer.pad_token_id)
    mask = torch.zeros_like(tokens)
    for number, row in enumerate(ids):
        tokens[number, : len(row)] = torch.tensor(row)
        mask[number, : len(row)] = 1
    inputs = {"input_ids": tokens, "attention_mask": mask}
    if "token_type_ids" in tokenizer.model_input_names:
        ends = (tokens == tokenizer.sep_token_id).long()
        inputs["token_type_ids"] = (ends.cumsum(1) > ends).long() * mask
    return inputs


def batches(ids: list[list[int]], seed: int) -> list[list[int]]:
    """Return the indices of batches, each of pairs of like length, in random order.

    Args:
        ids: The tokens of each pair.
        seed: Decides the order.
    """
    order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
    cut = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    shuffled = torch.randperm(len(cut), generator=torch.Generator().manual_seed(seed))
    return [cut[number] for number in shuffled.tolist()]


def losses(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the cross-entropy of each pair.

    Where only one relation is ruled out, the sum of the other two is charged.

    Args:
        logits: (pairs, 3)
        targets: (pairs,), indices as in `Pair.target`.
    """
    logs = torch.log_softmax(logits.float(), dim=-1)
    not_entailed = torch.logsumexp(logs[:, [NEITHER, CONTRADICTED]], dim=-1, keepdim=True)
    not_contradicted = torch.logsumexp(logs[:, [ENTAILED, NEITHER]], dim=-1, keepdim=True)
    table = torch.cat([logs, not_entailed, not_contradicted], dim=1)
    return -table.gather(1, targets[:, None])[:, 0]


def keep_memory() -> None:
    """Keep freed blocks: by default glibc maps, clears and unmaps every large tensor."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(-4, 0)  # M_MMAP_MAX
        mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD


class Trainer:
    """A model while it is trained, with the moving average of its weights."""

    def __init__(self, base: Any, tokenizer: Any, seed: int) -> None:
        """Prepare a base with its adapter.

        Args:
            base: As `with_adapter` returns it.
            tokenizer: The base's.
            seed: Decides what is dropped out.
        """
        torch.manual_seed(seed)
        torch.set_flush_denormal(True)
        self.model, self.tokenizer = base, tokenizer
        if int8.is_fast():
            int8.freeze_in_int8(self.model)
        self.model.train()
        self.weights = [p for p in self.model.parameters() if p.requires_grad]
        self.average = [p.detach().clone() for p in self.weights]
        self.optimizer = torch.optim.AdamW(self.weights, lr=RATE, weight_decay=WEIGHT_DECAY)
        self.steps = 0

    def step(self, pairs: list[Pair], ids: list[list[int]], rate: float) -> float:
        """Learn from one batch.

        Args:
            pairs: The pairs of the batch.
            ids: Their tokens.
            rate: Of learning, but for the first steps.

        Returns:
            The loss, weighted as the pairs are.
        """
        warmth = min((self.steps + 1) / WARM_UP, 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * warmth
        total = 0.0
        weight = sum(pair.weight for pair in pairs)
        together = max(1, AT_ONCE // max(len(row) for row in ids))
        self.optimizer.zero_grad()
        for start in range(0, len(pairs), together):
            part = pairs[start : start + together]
            tokens = ids[start : start + together]
            inputs = collate(tokens, self.tokenizer)
            targets = torch.tensor([pair.target for pair in part])
            importance = torch.tensor([pair.weight for pair in part])
            logits = self.model(**inputs).logits
            charged = losses(logits, targets) * importance
            loss = charged.sum() / weight
            torch.autograd.backward(loss)
            total += float(loss.item())
        torch.nn.utils.clip_grad_norm_(self.weights, CLIP)
        self.optimizer.step()
        self.steps += 1
        kept = min(AVERAGED, (1 + self.steps) / (10 + self.steps))
        torch._foreach_lerp_(self.average, [p.detach() for p in self.weights], 1 - kept)
        return total

    def save(self, folder: Path, state: dict[str, Any]) -> None:
        """Write the moving average as an adapter; training goes on with the current weights.

        Args:
            folder: Where it is written.
            state: How it was made.
        """
        current = [p.detach().clone() for p in self.weights]
        for parameter, mean in zip(self.weights, self.average, strict=True):
            parameter.data.copy_(mean)
        export(self.model, folder, state)
        for parameter, value in zip(self.weights, current, strict=True):
            parameter.data.copy_(value)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = command(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--start", type=Path, default=ADAPTER)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--rank", type=int, default=RANK)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=9_000)
    parser.add_argument("--first-portion", type=int, default=0)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args()


def main() -> None:
    """Train on so many pairs, and save the moving average meanwhile."""
    args = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    mixture = Mixture(args.data, args.seed)
    print(mixture.sizes, flush=True)
    keep_memory()
    torch.manual_seed(args.seed)
    base, tokenizer = small.load() if args.small else load_base()
    model = with_adapter(base, None if args.fresh else args.start, args.rank)
    trainer = Trainer(model, tokenizer, args.seed)
    started = saved = time.monotonic()
    seen = 0
    portion = args.first_portion
    recipe = {"rate": args.rate, "seed": args.seed, "first_portion": args.first_portion}
    try:
        while seen < args.pairs:
            pairs = mixture.portion(portion)
            ids = encode(pairs, trainer.tokenizer)
            for batch in batches(ids, args.seed + portion):
                if seen >= args.pairs:
                    break
                rate = args.rate * max(LAST_RATE, 1 - seen / args.pairs)
                loss = trainer.step([pairs[i] for i in batch], [ids[i] for i in batch], rate)
                seen += len(batch)
                if trainer.steps % 25 == 0:
                    speed = seen / (time.monotonic() - started)
                    print(f"{seen} pairs, loss {loss:.3f}, {speed:.1f} a second", flush=True)
                if time.monotonic() - saved > SAVED_EVERY:
                    trainer.save(args.out, recipe | {"pairs": seen})
                    saved = time.monotonic()
            portion += 1
    finally:
        trainer.save(args.out, recipe | {"pairs": seen})


if __name__ == "__main__":
    main()
