"""Which threshold gives the best verdicts? Measured on development pairs, several passages a claim, as in a run.

    python -m training.threshold --data FOLDER [--exclude EVALUATION_FOLDER] [--claims 500]

Each claim is held against its own passage and the four other passages of its source that share most words with it.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from attribution.settings import Settings
from attribution.types import Claim, Evidence
from attribution.verdicts import relation, verdict
from attribution.verifiers.embedded import Embedded
from training import data

SOURCES = ("fever_nli", "feverous_dev_text", "fool_me_twice_dev", "scifact_rationales")
PASSAGES = 5
LABELS = ("supported", "no_relation", "contradicted")  # in the order of data.LABELS


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--exclude", type=Path)
    parser.add_argument("--claims", type=int, default=500)
    args = parser.parse_args(argv)
    _, dev = data.load(args.data, data.evaluation_keys(args.exclude))
    dev = [p for p in dev if p.source in SOURCES]
    random.Random(7).shuffle(dev)
    verifier, rows = Embedded(Settings()), []
    for number, pair in enumerate(dev[: args.claims], 1):
        words = set(data.normalised(pair.hypothesis).split())
        others = {p.premise for p in dev if p.source == pair.source and p.premise[:60] != pair.premise[:60]}
        near = sorted(others, key=lambda o: (-len(words & set(data.normalised(o).split())), o))[: PASSAGES - 1]
        judged = verifier.verify([(pair.hypothesis, passage) for passage in (pair.premise, *near)])
        rows.append((pair, [j.probabilities for j in judged]))
        print(f"\r{number}/{min(len(dev), args.claims)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    claim = Claim(id="c", text="c", spans=(), worthiness="factual")
    for step in range(8, 20):
        threshold = step / 20
        made = []
        for _, probabilities in rows:
            pieces = [
                Evidence(
                    claim_id="c", page_id="p", start=0, end=1, text="t", similarity=1.0, sentence=(0, 1),
                    relation=relation(p, threshold), probabilities=p,
                )
                for p in probabilities
            ]  # fmt: skip
            made.append(verdict(claim, pieces).label)
        gold = [LABELS[pair.target] for pair, _ in rows]
        right = sum(a == b for a, b in zip(gold, made, strict=True)) / len(rows)
        false = sum(a == "contradicted" and b == "supported" for a, b in zip(gold, made, strict=True))
        conflicting = sum(b == "conflicting" for b in made)
        print(f"{threshold:.2f}: {right:.3f} right, {false} contradicted claims supported, {conflicting} conflicting")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
