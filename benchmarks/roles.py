"""Badges and who does what to whom: pairs of claim and sentence with reversed roles, by rule and by verifier.

    python -m benchmarks.roles DATA [--verifier NAME …] [--most N] [--out FILE.json]

First how often the rule of `contrast/roles.py` applies to pairs of each label: where a sentence entails its claim, it
should not. Then how many of the pairs that are not entailed a verifier calls supported and contradicted, without the
rule and with it. HANS is written from templates, and part of it is in the training data.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from attribution.settings import Settings
from attribution.types import Judgement, Pair
from attribution.verdicts import relation
from attribution.verifiers import VERIFIERS, Verifier, policy_of
from attribution.verifiers.contrast import contrast, reversed_roles
from benchmarks.evaluation_sets import rows

SETS = ("hans_sampled3k", "paws_wiki_devtest", "snli_devtest", "mnli_dev_binary", "fever_nli", "conjnli")
ENTAILED = "entailment"
READ = 500  # characters of a premise: longer ones take the rule's parse a while
JUDGED = 250  # pairs of a set


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that holds nli/")
    parser.add_argument("--verifier", nargs="*", default=["embedded-base", "embedded-small"])
    parser.add_argument("--most", type=int, default=8000, metavar="N", help="pairs of each set")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    settings = Settings(database_url="")
    verifiers = {name: VERIFIERS.build(name, settings) for name in args.verifier}
    figures: dict[str, Any] = {}
    for name in SETS:
        pairs = _pairs(args.data / "nli" / f"{name}.jsonl.gz", args.most)
        found = [(pair, label) for pair, label in tqdm(pairs, desc=name) if reversed_roles(*pair)]
        wrong = [pair for pair, label in found if label != ENTAILED][:JUDGED]
        figures[name] = {
            "pairs": Counter(label for _, label in pairs),
            "reversed": Counter(label for _, label in found),
            "judged": len(wrong),
            **{called: _badges(verifier, wrong, settings) for called, verifier in verifiers.items() if wrong},
        }
        print(name, json.dumps(figures[name]), flush=True)
    if args.out:
        args.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _pairs(file: Path, most: int) -> list[tuple[tuple[str, str], str]]:
    """(claim, premise) with the label, drawn with a fixed seed."""
    read = [((row["hypothesis"], row["premise"]), row["label"]) for row in rows(file) if len(row["premise"]) < READ]
    random.Random(3).shuffle(read)
    return read[:most]


def _badges(verifier: Verifier, pairs: Sequence[Pair], settings: Settings) -> dict[str, Counter[str]]:
    """The number of times that each relation is shown, without the rule and with it."""
    before = verifier.verify(pairs)
    after = [judged for (judged,) in contrast([[read] for read in zip(pairs, before, strict=True)], verifier)]

    def count(judgements: Sequence[Judgement]) -> Counter[str]:
        return Counter(relation(j.probabilities, policy_of(settings)) for j in judgements)

    return {"without": count(before), "with": count(after)}


if __name__ == "__main__":
    main()
