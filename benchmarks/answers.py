"""Real long answers with their own evidence passages as documents: are spans, quotes and provenance sound?

python -m benchmarks.answers DATA [--most N] [--out FILE.json]
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from attribution.events import Finished
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.types import Document, Report


def faults(report: Report) -> list[str]:
    """What is wrong with a report: spans outside the answer, quotes that are not in their page, missing verdicts."""
    found = []
    pages = {p.id: p for p in report.pages}
    for claim in report.claims:
        if not claim.text.strip() or not claim.spans:
            found.append(f"claim {claim.id} is empty or has no span")
        if any(not 0 <= a < b <= len(report.answer) for a, b in claim.spans):
            found.append(f"claim {claim.id} has a span outside the answer")
    if len({c.text for c in report.claims}) != len(report.claims):
        found.append("the same claim twice")
    if {c.id for c in report.claims} != {v.claim_id for v in report.verdicts}:
        found.append("a claim without verdict")
    for piece in report.evidence:
        page, (a, b) = pages[piece.page_id], piece.sentence
        if page.text[piece.start : piece.end] != piece.text or not piece.start <= a < b <= piece.end:
            found.append(f"evidence of {piece.claim_id} is not verbatim in {page.url}")
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with eval/expertqa_val.jsonl.gz")
    parser.add_argument("--most", type=int)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    with gzip.open(args.data / "eval" / "expertqa_val.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][: args.most]
    counts: Counter[str] = Counter()
    problems: list[str] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.from_environment(sources=("documents",), database_url=f"sqlite:///{folder}/b.sqlite3")
        store = Store.open(settings.database_url)
        for number, row in enumerate(rows, 1):
            passages = dict.fromkeys(e.partition("\n\n")[2].strip() for c in row["claims"] for e in c["evidence"])
            documents = [Document(f"passage {i}.txt", p.encode()) for i, p in enumerate(filter(None, passages), 1)]
            try:
                *_, last = run(row["question"], row["answer"], settings, store, documents)
            except Exception as error:
                problems.append(f"{row['id']}: {type(error).__name__}: {error}")
                continue
            assert isinstance(last, Finished)
            problems += [f"{row['id']}: {fault}" for fault in faults(last.report)]
            counts.update(v.label for v in last.report.verdicts)
            counts.update(claims=len(last.report.claims), evidence=len(last.report.evidence))
            print(f"\r{number}/{len(rows)}", end="", file=sys.stderr)
        store.close()
    print(file=sys.stderr)
    seconds = time.perf_counter() - started
    print(f"{len(rows)} answers in {seconds:.0f} s, {len(problems)} problems: {dict(counts)}")
    print("\n".join(problems[:20]))
    if args.out:
        figures = {"answers": len(rows), "problems": problems, "counts": dict(counts)}
        args.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return bool(problems)


if __name__ == "__main__":
    raise SystemExit(main())
