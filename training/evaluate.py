"""Measure adapters on data for choosing, or with `--report` on data that no choice has seen.

    python -m training.evaluate --data FOLDER --adapter FOLDER [--adapter OTHER …] [--weakest 12]

For choosing: the development split of the written claims, fold 6 of the claims with real passages,
and half of English XNLI. With `--report`: folds 7 to 9, and the other half of XNLI. The development
split is never trained on, so its figures are reported too, as chosen on.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from training import command
from training.pairs import (
    CHOOSING_FOLD,
    CONTRADICTED,
    ENTAILED,
    LETTERS,
    NEITHER,
    REPORTED_FOLDS,
    TARGETS,
    Pair,
    checksum,
    cut,
    is_held_out,
    judged,
    patterns,
    read_rows,
    real,
    written,
)
from training.reader import collate, encode, load_base, with_adapter

PLAIN_KINDS = ("plain", "plainly", "near")
MOST = {
    "short": 200,
    "long": 200,
    "written": 700,
    "siblings": 200,
    "plain": 400,
    "cut": 300,
    "patterns": 300,
    "judged": 200,
    "xnli": 300,
}
MOST_REAL = 80  # of each set
BATCH = 16


def choosing(folder: Path, should_report: bool) -> list[Pair]:
    """Return the pairs to measure on, the same ones every time."""
    hand = [pair for pair in written() if is_held_out(pair.document)]
    hand += [pair for pair in judged() if is_held_out(pair.document)]
    hand += cut(random.Random(13), held_out=True)
    hand += patterns(random.Random(13), held_out=True)
    folds = REPORTED_FOLDS if should_report else (CHOOSING_FOLD,)
    pools: dict[str, list[Pair]] = defaultdict(list)
    for pair in hand + real(folder / "eval", frozenset(folds)) + xnli(folder, should_report):
        pools[pair.source].append(pair)
    chosen: list[Pair] = []
    for source, pool in sorted(pools.items()):
        size = min(len(pool), MOST.get(source, MOST_REAL))
        chosen += random.Random(13).sample(pool, size)
    return chosen


def xnli(folder: Path, should_report: bool) -> list[Pair]:
    """Return one half of English XNLI."""
    rows = read_rows(folder / "eval" / "xnli_en_dev.jsonl.gz")
    return [
        Pair(row["premise"], row["hypothesis"], TARGETS[row["label"]], "xnli")
        for row in rows
        if (checksum(row["premise"]) % 2 == 0) == should_report
    ]


def probabilities(model: Any, pairs: Sequence[Pair], tokenizer: Any) -> torch.Tensor:
    """Return the probabilities of the three relations, of shape (pairs, 3)."""
    ids = encode(list(pairs), tokenizer)
    order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
    found = torch.zeros(len(ids), 3)
    model.eval()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            inputs = collate([ids[index] for index in part], tokenizer.pad_token_id)
            found[part] = torch.softmax(model(**inputs).logits.float(), -1)
    return found


def area(scores: Sequence[float], truths: Sequence[bool]) -> float:
    """Return the area under the ROC curve."""
    high = torch.tensor([s for s, t in zip(scores, truths, strict=True) if t])
    low = torch.tensor([s for s, t in zip(scores, truths, strict=True) if not t])
    if not len(high) or not len(low):
        return float("nan")
    wins = (high[:, None] > low).float() + 0.5 * (high[:, None] == low).float()
    return float(wins.mean())


def figures(found: torch.Tensor, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the figures of each source, and those that the choice is made by."""
    rows = found.tolist()
    result: dict[str, float] = {}

    def part(name: str, pick: list[int]) -> None:
        targets = [pairs[i].target for i in pick]
        entailed = [t == ENTAILED for t in targets]
        result[f"{name} entailed"] = area([rows[i][ENTAILED] for i in pick], entailed)
        if CONTRADICTED in targets:
            known = [i for i in pick if pairs[i].target in LETTERS.values()]
            refuted = [pairs[i].target == CONTRADICTED for i in known]
            result[f"{name} contradicted"] = area([rows[i][CONTRADICTED] for i in known], refuted)

    by_source: dict[str, list[int]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        by_source[pair.source].append(index)
    part("all written", [i for s in ("written", "siblings", "plain") for i in by_source[s]])
    for source, pick in by_source.items():
        if source == "xnli":
            right = [rows[i].index(max(rows[i])) == pairs[i].target for i in pick]
            result["xnli"] = sum(right) / len(right)
        else:
            part(source, pick)
    easy = [i for i, pair in enumerate(pairs) if pair.kind in PLAIN_KINDS]
    true = [rows[i][ENTAILED] >= 0.5 for i in easy if pairs[i].target == ENTAILED]
    false = [rows[i][ENTAILED] >= 0.5 for i in easy if pairs[i].target == CONTRADICTED]
    result["plain true at 0.5"] = sum(true) / max(1, len(true))
    result["plain false at 0.5"] = sum(false) / max(1, len(false))
    return {name: round(value, 4) for name, value in result.items()}


def weakest(found: torch.Tensor, pairs: Sequence[Pair], count: int) -> list[str]:
    """Return the kinds of written claims that are read worst, with the share that is right."""
    right: dict[str, list[bool]] = defaultdict(list)
    for row, pair in zip(found.tolist(), pairs, strict=True):
        if pair.kind and pair.target in (ENTAILED, NEITHER, CONTRADICTED):
            name = f"{'ENC'[pair.target]} {pair.kind}"
            right[name].append(row.index(max(row)) == pair.target)
    known = {name: some for name, some in right.items() if len(some) >= 8}
    shares = sorted((sum(some) / len(some), len(some), name) for name, some in known.items())
    return [f"{share:.2f} of {total:3} {name}" for share, total, name in shares[:count]]


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, action="append", required=True)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--weakest", type=int, default=0)
    args = parser.parse_args()
    pairs = choosing(args.data, args.report)
    for adapter in args.adapter:
        base, tokenizer = load_base()
        model = with_adapter(base, adapter).merge_and_unload()
        found = probabilities(model, pairs, tokenizer)
        print(json.dumps({"adapter": str(adapter)} | figures(found, pairs)), flush=True)
        for line in weakest(found, pairs, args.weakest):
            print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
