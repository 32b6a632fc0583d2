"""The example answers, checked against the shipped library and compared with a careful reader's
verdicts.

python -m benchmarks.examples [--out FILE.json] [--set key=value …]
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from typing import Any

from attribution.events import Finished
from attribution.pipeline.run import run
from attribution.settings import ROOT, Settings
from attribution.store.store import Store
from attribution.types import LABELS, Report
from benchmarks import arguments, publish

EXAMPLES = ROOT / "examples" / "answers.jsonl"


def examples() -> list[dict[str, Any]]:
    return [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]


def analyse(example: dict[str, Any], settings: Settings, store: Store) -> Report:
    settings = settings.model_copy(update={"sources": tuple(example["sources"])})
    *_, last = run(example["question"], example["answer"], settings, store)
    assert isinstance(last, Finished)
    return last.report


def match_labels(example: dict[str, Any], report: Report) -> list[tuple[dict[str, Any], str]]:
    """(the reader's claim, our label), matched by the characters they share; `lost` where no claim
    overlaps it.
    """
    labels = {v.claim_id: v.label for v in report.verdicts}
    pairs: list[tuple[dict[str, Any], str]] = []
    at = 0
    for expected in example["claims"]:
        start = example["answer"].index(expected["text"], at)
        end = at = start + len(expected["text"])
        shared = {
            c.id: sum(max(0, min(b, end) - max(a, start)) for a, b in c.spans)
            for c in report.claims
        }
        best = max(shared, key=lambda c: shared[c], default="")
        pairs.append((expected, labels[best] if best and shared[best] else "lost"))
    return pairs


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument(
        "--show", action="store_true", help="print every claim with another verdict"
    )
    args = parser.parse_args(argv)
    choices = dict(pair.split("=", 1) for pair in args.set)
    matrix: Counter[tuple[str, str]] = Counter()
    false_as_supported: list[str] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.from_environment(
            database_url=f"sqlite:///{folder}/bench.sqlite3", **choices
        )
        store = Store.open(settings.database_url)
        for example in examples():
            report = analyse(example, settings, store)
            for expected, label in match_labels(example, report):
                matrix[expected["verdict"], label] += 1
                if label == "supported" and expected["verdict"] == "contradicted":
                    false_as_supported.append(expected["text"])
                if args.show and label != expected["verdict"]:
                    print(f"{expected['verdict']} → {label}: {expected['text']}")
        store.close()
    total = sum(matrix.values())
    print(f"{'reader':>14}  " + " ".join(f"{label[:12]:>12}" for label in (*LABELS, "lost")))
    for row in LABELS:
        print(
            f"{row:>14}  " + " ".join(f"{matrix[row, column]:>12}" for column in (*LABELS, "lost"))
        )
    print(f"{time.perf_counter() - started:.0f} s")
    figures = {
        "claims": total,
        "agreement": sum(n for (a, b), n in matrix.items() if a == b) / total,
        "false shown as supported": false_as_supported,
        "matrix": {f"{a} → {b}": n for (a, b), n in sorted(matrix.items())},
    }
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
