"""The hand-made cases of tests/verdicts: how many get a badge that a careful reader accepts, by kind.

python -m benchmarks.verdict_cases [FILE.jsonl …] [--verifier NAME] [--show] [--out FILE.json]
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attribution.pipeline.judge import GivenClaim, judge
from attribution.settings import ROOT, Settings
from attribution.verifiers import VERIFIERS, policy_of
from benchmarks import arguments, publish

FOLDER = ROOT / "tests" / "verdicts"
FILES = tuple(FOLDER / f"{name}.jsonl" for name in ("cases", "seen", "fresh"))
SILENT = {"unclear", "no_relation"}  # either is accepted where the other is expected
PRONOUNS = {"It", "He", "She", "They"}


def cases(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def given(row: dict[str, Any]) -> GivenClaim:
    """The claim of a row; a question stands for the heading of a claim that begins with a pronoun."""
    above = [*row.get("heading", []), *([row["lead"]] if row.get("lead") else [])]
    if not above and row.get("question") and row["claim"].split()[0] in PRONOUNS:
        above = [row["question"]]
    titles = (" ".join(filter(None, (p.get("title"), p.get("heading")))) for p in row["passages"])
    return GivenClaim(row["claim"], tuple(p["text"] for p in row["passages"]), tuple(titles), tuple(above))


def judged(rows: list[dict[str, Any]], verifier: str, settings: Settings) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield each row with its badge and right, wrong or plainly wrong."""
    found = judge([given(row) for row in rows], VERIFIERS.build(verifier, settings), policy_of(settings))
    for row, one in zip(rows, found, strict=True):
        label, expected = one.verdict.label, set(row["expect"])
        right = label in expected or (label in SILENT and bool(SILENT & expected))
        yield row, label, "right" if right else "plainly wrong" if label in row["never"] else "wrong"


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=FILES)
    parser.add_argument("--verifier", default="embedded-base")
    parser.add_argument("--show", action="store_true", help="print every row with another badge")
    args = parser.parse_args(argv)
    settings = Settings.from_environment()
    figures: dict[str, dict[str, dict[str, int]]] = {}
    for path in args.files:
        counts: dict[str, Counter[str]] = {}
        for row, label, outcome in judged(cases(path), args.verifier, settings):
            for kind in (row["kind"], "all"):
                counts.setdefault(kind, Counter())[outcome] += 1
            if args.show and outcome != "right":
                print(f"{row['id']}: {label}, expected {' or '.join(row['expect'])}: {row['claim']}")
        figures[path.stem] = {kind: dict(count) for kind, count in counts.items()}
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
