"""`compare`: several segmenters over the same evidence."""

from __future__ import annotations

import argparse

from attribution.cli import options
from attribution.cli.console import progress
from attribution.text.json_lines import read_rows


def compare(args: argparse.Namespace) -> int:
    """Writes tables and a line of comparisons.jsonl for each answer; those already there are not compared again."""
    from attribution.evaluation.experiment import run

    settings = options.settings(args)
    rows = read_rows(args.input, ["answer"], ["question"])
    failed = 0
    for done, total, problem in run(rows, settings, args.segmenters, args.out):
        failed += bool(problem)
        progress(f"compare {done}/{total}" + (f": {problem}" if problem else ""))
    progress(f"{args.out}: {len(rows) - failed} compared, {failed} failed; tables.md, CSV tables, comparisons.jsonl")
    return int(failed > 0)
