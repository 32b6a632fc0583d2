"""A benchmark as files: the same as the command line writes."""

from __future__ import annotations

import json

from attribution.evaluation.groundedness import report
from attribution.evaluation.groundedness.labelled_set import LabelledSet
from attribution.evaluation.groundedness.outcomes import LeftOut
from pages.ui.benchmark.job import BenchmarkProgress


def figures_json(now: BenchmarkProgress) -> str:
    labelled = LabelledSet(now.labelled.rows, now.labelled.problems)
    left_out = [LeftOut(method, reason) for method, reason in now.saved.left_out.items()]
    made = report.json_report(labelled, now.evaluation, left_out, now.saved.settings)
    return json.dumps({"name": now.labelled.name, **made}, indent=1, ensure_ascii=False) + "\n"


def rows_jsonl(now: BenchmarkProgress) -> str:
    lines = report.row_lines(now.labelled.rows, now.saved.outcomes, now.evaluation)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def tables_csv(now: BenchmarkProgress) -> str:
    return "\n".join(t.csv() for t in (report.quality_table(now.evaluation), report.error_table(now.evaluation)))


def tables_markdown(now: BenchmarkProgress) -> str:
    return "\n".join(t.markdown() for t in (report.quality_table(now.evaluation), report.error_table(now.evaluation)))
