"""Measure an adapter on the development sample, and print what it gets wrong.

    python -m training.larger.evaluate --data FOLDER [--questions FILE] --adapter FOLDER [--adapter OTHER] [--wrong 20]

Figures are for choosing, not for reporting: the sample is looked at again and again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from attribution.errors import Unavailable
from attribution.models import merge
from attribution.models.mpnet import base_file, base_weights
from training import data
from training.larger import development, graph
from training.larger.pairs import Data
from training.larger.reading import probabilities
from training.losses import temperature
from training.precision import fastest_type

_TARGETS = (*data.LABELS, "not entailment", "not contradiction")


def wrong(found: Any, pairs: list[data.Pair]) -> list[tuple[float, data.Pair, list[float]]]:
    """(probability of what is right, pair, its probabilities) of misjudged pairs, the surest error first."""
    missed = []
    for row, pair in zip(found.tolist(), pairs, strict=True):
        right = {
            data.NOT_ENTAILMENT: 1 - row[0],
            data.NOT_CONTRADICTION: 1 - row[2],
        }.get(pair.target)
        right = row[pair.target] if right is None else right
        if right < (max(row) if pair.target < len(data.LABELS) else 0.5):
            missed.append((right, pair, [round(p, 2) for p in row]))
    return sorted(missed, key=lambda item: item[0])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with nli/, eval/ and qa/")
    parser.add_argument("--questions", type=Path, help="made by training.claims.questions before")
    parser.add_argument("--adapter", type=Path, action="append", required=True)
    parser.add_argument("--wrong", type=int, default=0, help="print so many misjudged pairs of each source")
    args = parser.parse_args(argv)

    import torch
    from transformers import AutoTokenizer

    torch.set_flush_denormal(True)
    try:
        pairs = Data(args.data, args.questions).development
        known = [i for i, pair in enumerate(pairs) if pair.source in development.THREE]
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            base = base_weights(folder, lambda share, what: None)
            for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
                (folder / name).write_bytes(base_file(name))
            tokenizer = AutoTokenizer.from_pretrained(made)
            for each in args.adapter:
                model = graph.torch_model(merge.Merged(base, each), folder)
                found = probabilities(model, pairs, tokenizer, "cpu", fastest_type("cpu"))
                fitting = temperature(found[known].clamp(min=1e-9).log(), [pairs[i] for i in known])
                record = {"figures": development.figures(found, pairs), "temperature": round(fitting, 2)}
                print(json.dumps({"adapter": str(each)} | record))
                left = {p.source: args.wrong for p in pairs}
                for _, pair, row in wrong(found, pairs):
                    left[pair.source] -= 1
                    if left[pair.source] >= 0:
                        print(f"\n{pair.source}: {_TARGETS[pair.target]}, found {row}")
                        print(f"  claim: {pair.hypothesis}\n  passage: {pair.premise}")
    except (ValueError, OSError, Unavailable) as error:
        print(f"training: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
