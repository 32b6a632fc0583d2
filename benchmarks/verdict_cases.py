"""The hand-made cases of tests/verdicts: how many get a badge that a careful reader accepts, by
kind.

    python -m benchmarks.verdict_cases [FILE.jsonl …] [--verifier NAME] [--show] [--record] [--out
    FILE.json]

--record writes what the models say of every pair to tests/verdicts/judgements.jsonl, from which the
tests decide again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from pydantic import TypeAdapter

from attribution.models.reranker import Relevance
from attribution.pipeline.judge import GivenClaim, Passage, judge
from attribution.settings import ROOT, Settings
from attribution.types import Judgement, Pair, content_id
from attribution.verifiers import VERIFIERS, policy_of
from attribution.verifiers.pairs import Reads
from benchmarks import arguments, publish

FOLDER = ROOT / "tests" / "verdicts"
FILES = tuple(FOLDER / f"{name}.jsonl" for name in ("cases", "seen", "fresh"))
RECORDED, SAID = FOLDER / "judgements.jsonl", TypeAdapter(dict[str, Judgement])
SILENT = {"unclear", "no_relation"}  # either is accepted where the other is expected
PRONOUNS = {"It", "He", "She", "They"}


class Recorded:
    """A verifier that repeats the judgements in `said`, by pair; what they lack, `source` judges,
    and it is kept there.

    Raises LookupError where there is no source.
    """

    version = "recorded"

    def __init__(self, said: dict[str, Judgement], source: Reads | None, name: str) -> None:
        self._said, self._source, self._name = said, source, name

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        keys = [content_id(self._name, *pair) for pair in pairs]
        if lacking := [i for i, key in enumerate(keys) if key not in self._said]:
            if self._source is None:
                raise LookupError(
                    "a pair is not recorded: run python -m benchmarks.verdict_cases --record"
                )
            found = self._source.verify([pairs[i] for i in lacking])
            self._said.update({keys[i]: one for i, one in zip(lacking, found, strict=True)})
        return [self._said[key] for key in keys]


@contextmanager
def recorded(said: dict[str, Judgement], source: Reads | None = None) -> Iterator[Reads]:
    """Give a verifier that repeats these judgements, while relevance is taken from them as well."""
    relevance = Recorded(said, Relevance() if source else None, "relevance")
    with (
        mock.patch("attribution.pipeline.judge.Relevance", lambda: relevance),
        mock.patch("attribution.models.reranker.installed", lambda: True),
    ):
        yield Recorded(said, source, "verifier")


def read_recorded() -> dict[str, Judgement]:
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    return {key: one for line in lines for key, one in SAID.validate_json(line).items()}


def cases(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def given(row: dict[str, Any]) -> GivenClaim:
    """The claim of a row; a question stands for the heading of a claim that begins with a pronoun."""
    above = [*row.get("heading", []), *([row["lead"]] if row.get("lead") else [])]
    if not above and row.get("question") and row["claim"].split()[0] in PRONOUNS:
        above = [row["question"]]
    titles = (" ".join(filter(None, (p.get("title"), p.get("heading")))) for p in row["passages"])
    passages = tuple(
        Passage(p["text"], title=title) for p, title in zip(row["passages"], titles, strict=True)
    )
    return GivenClaim(row["claim"], passages, tuple(above))


def judged(
    rows: Sequence[dict[str, Any]], verifier: Reads, settings: Settings
) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield each row with its badge and right, wrong or plainly wrong."""
    found = judge([given(row) for row in rows], verifier, policy_of(settings))
    for row, one in zip(rows, found, strict=True):
        label, expected = one.verdict.label, set(row["expect"])
        right = label in expected or (label in SILENT and bool(SILENT & expected))
        yield (
            row,
            label,
            "right" if right else "plainly wrong" if label in row["never"] else "wrong",
        )


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=FILES)
    parser.add_argument("--verifier", default="embedded-base")
    parser.add_argument("--show", action="store_true", help="print every row with another badge")
    parser.add_argument("--record", action="store_true", help="keep the judgements for the tests")
    args = parser.parse_args(argv)
    settings = Settings.from_environment(verifier=args.verifier)
    figures: dict[str, dict[str, dict[str, int]]] = {}
    said: dict[str, Judgement] = {}
    with recorded(said, VERIFIERS.build(args.verifier, settings)) as verifier:
        for path in args.files:
            counts: dict[str, Counter[str]] = {}
            for row, label, outcome in judged(cases(path), verifier, settings):
                for kind in (row["kind"], "all"):
                    counts.setdefault(kind, Counter())[outcome] += 1
                if args.show and outcome != "right":
                    print(
                        f"{row['id']}: {label}, expected {' or '.join(row['expect'])}: {row['claim']}"
                    )
            figures[path.stem] = {kind: dict(count) for kind, count in counts.items()}
    publish(figures, args.out)
    if args.record:
        RECORDED.write_text(
            "".join(SAID.dump_json({k: said[k]}).decode() + "\n" for k in sorted(said)),
            encoding="utf-8",
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
