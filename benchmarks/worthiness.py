"""Check-worthiness by rules: factual against the rest.

python -m benchmarks.worthiness [DATA] [--out FILE.json]     the project's labelled sentences; with DATA ClaimBuster too
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from attribution.claims.worthiness import classify_text
from attribution.types import Worthiness
from benchmarks import arguments, publish
from benchmarks.evaluation_sets import rows

LABELLED = Path(__file__).parent.parent / "tests" / "data" / "worthiness.jsonl"
CLASSES: tuple[Worthiness, ...] = ("factual", "opinion", "not_a_claim", "other")


@dataclass(frozen=True)
class Figures:
    """Shares of 1; all but `macro_f1_four` compare factual with the rest."""

    number: int
    accuracy: float
    majority: float  # accuracy of always choosing the commoner class
    balanced: float
    macro_f1: float
    macro_f1_four: float  # over the four classes


def measure(gold: Sequence[str], guess: Sequence[str]) -> Figures:
    """Labels of the four classes; anything else counts as not factual."""
    g, s = [x == "factual" for x in gold], [x == "factual" for x in guess]
    return Figures(
        number=len(g),
        accuracy=accuracy_score(g, s),
        majority=max(g.count(True), g.count(False)) / len(g),
        balanced=balanced_accuracy_score(g, s),
        macro_f1=f1_score(g, s, labels=[True, False], average="macro", zero_division=0),
        macro_f1_four=f1_score(gold, guess, labels=[c for c in CLASSES if c in gold], average="macro", zero_division=0),
    )


def labelled(half: str) -> Figures:
    """The project's own sentences; half is "tune" or "test"."""
    sentences = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    sentences = [s for s in sentences if s["half"] == half]
    return measure([s["label"] for s in sentences], [classify_text(s["text"])[0] for s in sentences])


def claimbuster(path: Path) -> Figures:
    """CFS (a check-worthy factual sentence) against NCS, in presidential debates."""
    test = [r for r in rows(path) if r["split"] == "test"]
    gold = ["factual" if r["label"] == "CFS" else "other" for r in test]
    return measure(gold, [classify_text(r["claim"])[0] for r in test])


def main(argv: list[str] | None = None) -> int:
    args = arguments(__doc__, data="eval/claimbuster_checkworthy.jsonl.gz", optional=True).parse_args(argv)
    sets = {"own, tune half": labelled("tune"), "own, test half": labelled("test")}
    if args.data:
        sets["claimbuster, test split"] = claimbuster(args.data / "eval" / "claimbuster_checkworthy.jsonl.gz")
    publish({name: {k: round(v, 3) for k, v in vars(f).items()} for name, f in sets.items()}, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
