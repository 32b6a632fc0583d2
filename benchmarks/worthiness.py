"""Check-worthiness by rules: factual against the rest.

python -m benchmarks.worthiness [DATA]     own labelled sentences; with DATA also eval/claimbuster_checkworthy
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attribution.claims.worthiness import classify_text
from attribution.types import Worthiness

LABELLED = Path(__file__).parent.parent / "tests" / "data" / "worthiness.jsonl"
CLASSES: tuple[Worthiness, ...] = ("factual", "opinion", "not_a_claim", "other")


@dataclass(frozen=True)
class Figures:
    """Shares of 1; all but `macro_f1_four` are of factual against the rest."""

    number: int
    accuracy: float
    majority: float  # accuracy of always saying the commoner class
    balanced: float
    macro_f1: float
    macro_f1_four: float  # over the four classes


def _f1(gold: Sequence[object], said: Sequence[object], label: object) -> float:
    both = sum(g == s == label for g, s in zip(gold, said, strict=True))
    return 2 * both / max(1, sum(g == label for g in gold) + sum(s == label for s in said))


def measure(gold: Sequence[str], said: Sequence[str]) -> Figures:
    """Labels of the four classes; what is not one of them counts as not factual."""
    g, s = [x == "factual" for x in gold], [x == "factual" for x in said]
    recalls = [sum(b == c == a for b, c in zip(g, s, strict=True)) / max(1, g.count(a)) for a in (True, False)]
    classes = [c for c in CLASSES if c in gold]
    return Figures(
        number=len(g),
        accuracy=sum(a == b for a, b in zip(g, s, strict=True)) / len(g),
        majority=max(g.count(True), g.count(False)) / len(g),
        balanced=sum(recalls) / 2,
        macro_f1=(_f1(g, s, True) + _f1(g, s, False)) / 2,
        macro_f1_four=sum(_f1(gold, said, c) for c in classes) / len(classes),
    )


def labelled(half: str) -> Figures:
    """The project's own sentences; half is "tune" or "test"."""
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    rows = [r for r in rows if r["half"] == half]
    return measure([r["label"] for r in rows], [classify_text(r["text"])[0] for r in rows])


def claimbuster(path: Path) -> Figures:
    """CFS (a check-worthy factual sentence) against NCS, in presidential debates."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [r for r in map(json.loads, lines) if r["split"] == "test"]
    gold = ["factual" if r["label"] == "CFS" else "other" for r in rows]
    return measure(gold, [classify_text(r["claim"])[0] for r in rows])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="folder with eval/claimbuster_checkworthy.jsonl.gz")
    args = parser.parse_args(argv)
    found = {"own, tune half": labelled("tune"), "own, test half": labelled("test")}
    if args.data:
        found["claimbuster, test split"] = claimbuster(args.data / "eval" / "claimbuster_checkworthy.jsonl.gz")
    for name, f in found.items():
        parts = {k: round(v, 3) for k, v in vars(f).items()}
        sys.stdout.write(json.dumps({"set": name, **parts}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
