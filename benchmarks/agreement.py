"""Pairs of claims that are rightly said to agree or to contradict each other, with the limits of `agreement.py`.

python -m benchmarks.agreement DATA [--most 100] [--out FILE.json]

Pairs of English XNLI and PAWS, and claims of one ExpertQA answer, which are taken to say different things and not to
contradict each other. The limits were chosen on the half `choose`.
"""

from __future__ import annotations

import itertools
import random
import re
import sys
from collections import defaultdict
from pathlib import Path

from attribution.embedders import EMBEDDERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.answers import agreement
from attribution.types import Claim
from attribution.verifiers import VERIFIERS
from attribution.verifiers.pairs import CachedVerifier
from benchmarks import arguments, publish
from benchmarks.evaluation_sets import half_of, rows

SEED = 16
_MARK = re.compile(r"\[\d+\]")


def pairs(folder: Path, most: int) -> list[tuple[str, str, str, str]]:
    """(set, half, one text, other text); at most so many of each set."""
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for name, file in (("xnli", "eval/xnli_en_dev"), ("paws", "nli/paws_wiki_devtest")):
        for row in rows(folder / f"{file}.jsonl.gz"):
            half = half_of(row["premise"])
            found[f"{name}, {row['label']}"].append((half, row["premise"], row["hypothesis"]))
    for row in rows(folder / "eval" / "expertqa_val.jsonl.gz"):
        claims = [_MARK.sub("", c["claim"]) for c in row["claims"] if 20 < len(c["claim"]) < 300]
        found["expertqa, one answer"] += [(half_of(str(row["id"])), a, b) for a, b in itertools.combinations(claims, 2)]
    chooser = random.Random(SEED)
    return [(name, *pair) for name, of_set in found.items() for pair in chooser.sample(of_set, min(most, len(of_set)))]


def main() -> None:
    p = arguments(__doc__, "eval/ and nli/")
    p.add_argument("--most", type=int, default=100, help="pairs of each set")
    args = p.parse_args()
    settings = Settings.from_environment()
    store = Store.open("sqlite://")
    verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store)
    embedder = EMBEDDERS.build(settings.embedder, settings)
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    taken = pairs(args.data, args.most)
    for number, (name, half, *texts) in enumerate(taken, 1):
        one, other = (Claim(id=str(i), text=text, spans=(), worthiness="factual") for i, text in enumerate(texts))
        matches = agreement.align([one], [other], embedder, verifier)
        counts[f"{name}, {half}"]["pairs"] += 1
        counts[f"{name}, {half}"][matches[0].agreement if matches else "none"] += 1
        if number % 50 == 0:
            print(f"{number}/{len(taken)}", file=sys.stderr, flush=True)
    publish({"verifier": verifier.version, "sets": {name: dict(c) for name, c in sorted(counts.items())}}, args.out)


if __name__ == "__main__":
    main()
