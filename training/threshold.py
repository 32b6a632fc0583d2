"""Find the threshold that gives the best verdicts on development pairs, several passages a claim, as in a run.

    python -m training.threshold --data FOLDER [--exclude EVALUATION_FOLDER] [--claims 500]

Each claim is held against its own passage among others of its page, and against those other passages of its page and
of its source that share most words with it: what a search would bring.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from tqdm import tqdm

from attribution.settings import Settings
from attribution.types import Claim, Evidence
from attribution.verdicts import Thresholds, decide, relation
from attribution.verifiers.embedded_small import EmbeddedSmall
from training import data, drawing

SOURCES = ("fever_nli", "feverous_dev_text", "fool_me_twice_dev", "scifact_rationales")
PASSAGES = 5
LABELS = ("supported", "no_relation", "contradicted")  # in the order of data.LABELS


def passages(pair: data.Pair, around: drawing.Surroundings, rng: random.Random) -> list[str]:
    """At most `PASSAGES` chunks, the claim's own among them."""
    index, mates = around.near[pair.source], around.pages.others(pair)
    others = index.others(pair.premise, 6, rng)
    own = drawing.in_chunk(pair.premise, mates[:3] or others, rng)
    page = [drawing.in_chunk(text, mates[i + 1 : i + 4], rng) for i, text in enumerate(mates[:2])]
    near = [drawing.in_chunk(text, others, rng) for text in index.near(pair.hypothesis, pair.premise)]
    return [own, *page, *near][:PASSAGES]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--exclude", type=Path)
    parser.add_argument("--claims", type=int, default=500)
    args = parser.parse_args(argv)
    _, dev = data.load(args.data, data.evaluation_keys(args.exclude))
    dev = [p for p in dev if p.source in SOURCES]
    around, rng = drawing.surroundings(dev), random.Random(7)
    rng.shuffle(dev)
    verifier, rows = EmbeddedSmall(Settings()), []
    for pair in tqdm(dev[: args.claims]):
        judged = verifier.verify([(pair.hypothesis, text, pair.page) for text in passages(pair, around, rng)])
        rows.append((pair, [j.probabilities for j in judged]))
    claim = Claim(id="c", text="c", spans=(), worthiness="factual")
    for step in range(8, 20):
        threshold = step / 20
        thresholds = Thresholds(threshold, threshold)
        made = []
        for _, probabilities in rows:
            pieces = [
                Evidence(
                    claim_id="c", page_id="p", start=0, end=1, text="t", similarity=1.0, sentence=(0, 1),
                    relation=relation(p, thresholds), probabilities=p,
                )
                for p in probabilities
            ]  # fmt: skip
            made.append(decide(claim, pieces, thresholds).label)
        gold = [LABELS[pair.target] for pair, _ in rows]
        right = sum(a == b for a, b in zip(gold, made, strict=True)) / len(rows)
        false = sum(a == "contradicted" and b == "supported" for a, b in zip(gold, made, strict=True))
        conflicting = sum(b == "conflicting" for b in made)
        by_label = [
            sum(b == label for a, b in zip(gold, made, strict=True) if a == label) / gold.count(label)
            for label in LABELS
        ]
        print(
            f"{threshold:.2f}: {right:.3f} right, {sum(by_label) / len(LABELS):.3f} balanced, "
            f"{false} contradicted claims supported, {conflicting} conflicting"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
