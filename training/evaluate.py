"""Measure adapters on data for choosing, or with `--report` on data that no choice has seen.

    python -m training.evaluate --data FOLDER --adapter FOLDER [--adapter OTHER …]
        [--weakest 12] [--small]

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
from typing import Any, NamedTuple

import torch
from sklearn.metrics import roc_auc_score

from training import command, small
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
    joined,
    judged,
    patterns,
    read_rows,
    real,
    swapped,
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
    "joined": 300,
    "swapped": 300,
    "patterns": 300,
    "judged": 200,
    "xnli": 300,
}
MOST_REAL = 80  # of each set
FEWEST = 8  # claims of a kind, for a share to be shown
SEED = 13
BATCH = 16


def choosing(folder: Path, should_report: bool) -> list[Pair]:
    """Return the pairs to measure on, the same ones every time.

    Args:
        folder: That of the public data.
        should_report: Take what no choice has seen.
    """
    folds = REPORTED_FOLDS if should_report else (CHOOSING_FOLD,)
    pairs = [pair for pair in written() + judged() if is_held_out(pair.document)]
    pairs += cut(random.Random(SEED), held_out=True)
    pairs += joined(random.Random(SEED), held_out=True)
    pairs += swapped(random.Random(SEED), held_out=True)
    pairs += patterns(random.Random(SEED), held_out=True)
    pairs += real(folder / "eval", frozenset(folds))
    pairs += xnli(folder, should_report)
    pools: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        pools[pair.source].append(pair)
    chosen: list[Pair] = []
    for source, pool in sorted(pools.items()):
        size = min(len(pool), MOST.get(source, MOST_REAL))
        chosen += random.Random(SEED).sample(pool, size)
    return chosen


def xnli(folder: Path, should_report: bool) -> list[Pair]:
    """Return one half of English XNLI."""
    pairs: list[Pair] = []
    for row in read_rows(folder / "eval" / "xnli_en_dev.jsonl.gz"):
        is_reported = checksum(row["premise"]) % 2 == 0
        if is_reported == should_report:
            target = TARGETS[row["label"]]
            pairs.append(Pair(row["premise"], row["hypothesis"], target, "xnli"))
    return pairs


class Reading(NamedTuple):
    """A pair, and the probabilities of its three relations."""

    pair: Pair
    scores: list[float]

    @property
    def is_right(self) -> bool:
        return self.scores.index(max(self.scores)) == self.pair.target


def probabilities(model: Any, pairs: Sequence[Pair], tokenizer: Any) -> torch.Tensor:
    """Return the probabilities of the three relations.

    Args:
        model: The merged model.
        pairs: The pairs to read.
        tokenizer: The base's.

    Returns:
        A tensor of shape (pairs, 3).
    """
    ids = encode(list(pairs), tokenizer)
    order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
    found = torch.zeros(len(ids), 3)
    model.eval()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            inputs = collate([ids[index] for index in part], tokenizer)
            found[part] = torch.softmax(model(**inputs).logits.float(), -1)
    return found


def figures(found: torch.Tensor, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the figures of each source, and those that the choice is made by.

    Args:
        found: As `probabilities` returns them.
        pairs: The pairs.
    """
    readings = [Reading(pair, row) for pair, row in zip(pairs, found.tolist(), strict=True)]
    by_source: dict[str, list[Reading]] = defaultdict(list)
    for reading in readings:
        by_source[reading.pair.source].append(reading)
    hand = [*by_source["written"], *by_source["siblings"], *by_source["plain"]]
    result = areas("all written", hand)
    for source, part in by_source.items():
        if source == "xnli":
            result["xnli"] = sum(reading.is_right for reading in part) / len(part)
        else:
            result |= areas(source, part)
    for name, target in (("true", ENTAILED), ("false", CONTRADICTED)):
        scores = [
            reading.scores[ENTAILED]
            for reading in readings
            if reading.pair.kind in PLAIN_KINDS and reading.pair.target == target
        ]
        share = sum(score >= 0.5 for score in scores) / max(1, len(scores))
        result[f"plain {name} at 0.5"] = share
    return {name: round(float(value), 4) for name, value in result.items()}


def areas(name: str, readings: Sequence[Reading]) -> dict[str, float]:
    """Return the areas under the ROC curve of *entailed* and *contradicted* against the rest."""
    entailed = [reading.pair.target == ENTAILED for reading in readings]
    scores = [reading.scores[ENTAILED] for reading in readings]
    result = {f"{name} entailed": roc_auc_score(entailed, scores)}
    if any(reading.pair.target == CONTRADICTED for reading in readings):
        known = [reading for reading in readings if reading.pair.target in LETTERS.values()]
        refuted = [reading.pair.target == CONTRADICTED for reading in known]
        scores = [reading.scores[CONTRADICTED] for reading in known]
        result[f"{name} contradicted"] = roc_auc_score(refuted, scores)
    return result


def weakest(found: torch.Tensor, pairs: Sequence[Pair], count: int) -> list[str]:
    """Return the kinds of written claims that are read worst, with the share that is right.

    Args:
        found: As `probabilities` returns them.
        pairs: The pairs.
        count: The number of kinds.
    """
    right: dict[str, list[bool]] = defaultdict(list)
    for pair, row in zip(pairs, found.tolist(), strict=True):
        if pair.kind and pair.target in (ENTAILED, NEITHER, CONTRADICTED):
            name = f"{'ENC'[pair.target]} {pair.kind}"
            right[name].append(Reading(pair, row).is_right)
    lines: list[str] = []
    for name, results in right.items():
        total = len(results)
        if total >= FEWEST:
            lines.append(f"{sum(results) / total:.2f} of {total:3} {name}")
    return sorted(lines)[:count]


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, action="append", required=True)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--weakest", type=int, default=0)
    args = parser.parse_args()
    pairs = choosing(args.data, args.report)
    for adapter in args.adapter:
        base, tokenizer = small.load() if args.small else load_base()
        model = with_adapter(base, adapter).merge_and_unload()
        found = probabilities(model, pairs, tokenizer)
        print(json.dumps({"adapter": str(adapter)} | figures(found, pairs)), flush=True)
        for line in weakest(found, pairs, args.weakest):
            print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
