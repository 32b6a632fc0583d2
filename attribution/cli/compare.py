"""`compare`: several segmenters over the same evidence."""

from __future__ import annotations

import argparse

from attribution.cli import options
from attribution.cli.console import progress
from attribution.json_lines import read_rows


def compare(args: argparse.Namespace) -> None:
    """Writes tables and a line of comparisons.jsonl for each answer; those already there are not compared again."""
    from attribution.evaluation.experiment import run

    rows = list(read_rows(args.input, ["answer"]))
    for done, total, problem in run(rows, options.settings(args), args.segmenters, args.out):
        progress(f"compare {done}/{total}" + (f": {problem}" if problem else ""))
    progress(f"{args.out}: tables.md, CSV tables, comparisons.jsonl")
