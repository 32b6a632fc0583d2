"""ExpertQA answers with their own evidence passages as documents: are all spans and quotes sound?

python -m benchmarks.answers DATA [--most N] [--out FILE.json]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter

from attribution.events import Finished
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document, Report
from benchmarks import arguments, publish
from benchmarks.evaluation_sets import rows


def faults(report: Report) -> list[str]:
    """Spans outside the answer, quotes that are not in their page, claims without a verdict, duplicates."""
    problems = []
    pages = {p.id: p for p in report.pages}
    for claim in report.claims:
        if not claim.text.strip() or not claim.spans:
            problems.append(f"claim {claim.id} is empty or has no span")
        if any(not 0 <= a < b <= len(report.answer) for a, b in claim.spans):
            problems.append(f"claim {claim.id} has a span outside the answer")
    if len({c.text for c in report.claims}) != len(report.claims):
        problems.append("the same claim twice")
    if {c.id for c in report.claims} != {v.claim_id for v in report.verdicts}:
        problems.append("a claim without verdict")
    for piece in report.evidence:
        page, (a, b) = pages[piece.page_id], piece.sentence
        if page.text[piece.start : piece.end] != piece.text or not piece.start <= a < b <= piece.end:
            problems.append(f"evidence of {piece.claim_id} is not verbatim in {page.url}")
    return problems


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__, data="eval/expertqa_val.jsonl.gz")
    parser.add_argument("--most", type=int, metavar="N", help="only the first N answers")
    args = parser.parse_args(argv)
    answers = list(rows(args.data / "eval" / "expertqa_val.jsonl.gz"))[: args.most]
    counts: Counter[str] = Counter()
    problems: list[str] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.from_environment(sources=("documents",), database_url=f"sqlite:///{folder}/b.sqlite3")
        store = Store.open(settings.database_url)
        for number, row in enumerate(answers, 1):
            passages = dict.fromkeys(e.partition("\n\n")[2].strip() for c in row["claims"] for e in c["evidence"])
            documents = [Document(f"passage {i}.txt", p.encode()) for i, p in enumerate(filter(None, passages), 1)]
            try:
                *_, last = run(row["question"], row["answer"], settings, store, documents)
            except Exception as error:  # whatever it is, it is one of the problems that are counted
                problems.append(f"{row['id']}: {type(error).__name__}: {error}")
                continue
            assert isinstance(last, Finished)
            problems += [f"{row['id']}: {fault}" for fault in faults(last.report)]
            counts.update(v.label for v in last.report.verdicts)
            counts.update(claims=len(last.report.claims), evidence=len(last.report.evidence))
            print(f"\r{number}/{len(answers)}", end="", file=sys.stderr)
        store.close()
    print(f": {time.perf_counter() - started:.0f} s", file=sys.stderr)
    publish({"answers": len(answers), "problems": problems, "counts": dict(counts)}, args.out)
    return bool(problems)


if __name__ == "__main__":
    raise SystemExit(main())
